// States of a session, its thread, its capabilities, and what is refused.
#include <thread>

#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

class SessionTest : public TextGenerationTest {
 protected:
  HRESULT TryGenerate() {
    const UINT32 token = 1;
    ComPtr<IWinMLTextGenerationPullStream> stream;
    return session->GenerateTokens(1, &token, nullptr, nullptr, stream.GetAddressOf());
  }
};

TEST_F(SessionTest, GoesThroughItsStates) {
  Open();
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
  const auto stream = Start({1}, Options(2).Get());
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_ACTIVE);
  Answer answer;
  while (ReadOne(stream.Get(), &answer)) {
    EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_ACTIVE);
  }
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY) << "completed, though the stream is not closed";
  EXPECT_EQ(session->Reset(), S_OK);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
  EXPECT_EQ(session->Close(), S_OK);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_CLOSED);
}

TEST_F(SessionTest, AnOpenStreamBlocksEverythingElse) {
  Open();
  const auto stream = Start({1}, Options(2).Get());
  EXPECT_EQ(TryGenerate(), E_NOT_VALID_STATE);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("stream"));
  EXPECT_EQ(session->Reset(), E_NOT_VALID_STATE);
  EXPECT_EQ(session->Close(), E_NOT_VALID_STATE);
  EXPECT_EQ(stream->Close(), S_OK);
  EXPECT_EQ(TryGenerate(), S_OK);
}

TEST_F(SessionTest, ACompletedStreamBlocksNothing) {
  Open();
  const auto stream = Start({1}, Options(1).Get());
  Answer answer;
  while (ReadOne(stream.Get(), &answer)) {
  }
  EXPECT_EQ(TryGenerate(), S_OK);
}

TEST_F(SessionTest, CloseMayBeRepeatedAndLeavesLittle) {
  Open();
  EXPECT_EQ(session->Close(), S_OK);
  EXPECT_EQ(session->Close(), S_OK);
  EXPECT_EQ(TryGenerate(), E_NOT_VALID_STATE);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("closed"));
  EXPECT_EQ(session->Reset(), E_NOT_VALID_STATE);
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  EXPECT_EQ(session->GetCapabilities(&capabilities), E_NOT_VALID_STATE);
  ComPtr<IWinMLTextGenerationSequenceDisclosure> view;
  ASSERT_EQ(session.As(&view), S_OK);
  UINT32 count = 0;
  UINT32* ids = nullptr;
  EXPECT_EQ(view->GetRetainedTokenIds(&count, &ids), E_NOT_VALID_STATE);

  ComPtr<IWinMLRuntime> its_runtime;
  EXPECT_EQ(session->GetRuntime(its_runtime.GetAddressOf()), S_OK);
  EXPECT_TRUE(SameObject(its_runtime.Get(), runtime.Get()));
  ComPtr<IWinMLTextGenerationConfiguration> its_configuration;
  EXPECT_EQ(session->GetConfiguration(its_configuration.GetAddressOf()), S_OK);
  EXPECT_TRUE(SameObject(its_configuration.Get(), configuration.Get()));
}

TEST_F(SessionTest, CloseGivesTheStageBack) {
  Open();
  Generate({1}, 2);
  EXPECT_TRUE(model->input_bound());
  EXPECT_TRUE(model->output_requested());
  EXPECT_EQ(session->Close(), S_OK);
  EXPECT_FALSE(model->input_bound());
  EXPECT_FALSE(model->output_requested());
}

TEST_F(SessionTest, AnOutputThatTheApplicationRequestedStaysRequested) {
  ASSERT_EQ(model->RequestOutput(0), S_OK);
  Open();
  Generate({1}, 2);
  EXPECT_EQ(session->Close(), S_OK);
  EXPECT_TRUE(model->output_requested());
  model->ResetOutput(0);
}

TEST_F(SessionTest, BelongsToItsThread) {
  Open();
  std::thread([&] {
    auto state = WINML_TEXT_GENERATION_SESSION_STATE_EMPTY;
    WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
    ComPtr<IWinMLTextGenerationPullStream> stream;
    ComPtr<IWinMLRuntime> its_runtime;
    EXPECT_EQ(session->GetState(&state), RPC_E_WRONG_THREAD);
    EXPECT_EQ(session->GetCapabilities(&capabilities), RPC_E_WRONG_THREAD);
    EXPECT_EQ(session->GetRuntime(its_runtime.GetAddressOf()), RPC_E_WRONG_THREAD);
    EXPECT_EQ(TryGenerate(), RPC_E_WRONG_THREAD);
    EXPECT_EQ(session->GenerateText(L"a", nullptr, nullptr, stream.GetAddressOf()), RPC_E_WRONG_THREAD);
    EXPECT_EQ(session->Reset(), RPC_E_WRONG_THREAD);
    EXPECT_EQ(session->Close(), RPC_E_WRONG_THREAD);
    ComPtr<IWinMLTextGenerationSequenceDisclosure> view;
    ASSERT_EQ(session.As(&view), S_OK);
    WINML_TEXT_GENERATION_SEQUENCE_STATE sequence = {};
    EXPECT_EQ(view->GetSequenceState(&sequence), RPC_E_WRONG_THREAD);
  }).join();
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
}

TEST_F(SessionTest, BelongsToTheThreadThatMadeIt) {
  configuration = Unified();
  task = NewTask(tokenizer.Get());
  std::thread([&] {
    ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK);
    EXPECT_EQ(Generate({1}, 2).tokens, Expected({1}, 2));
  }).join();
  EXPECT_EQ(TryGenerate(), RPC_E_WRONG_THREAD);
}

TEST_F(SessionTest, TellsWhatItCanDo) {
  Open();
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_EQ(capabilities.executionProfile, WINML_TEXT_GENERATION_EXECUTION_PROFILE_SINGLE_PIPELINE);
  EXPECT_EQ(capabilities.outputKind, kLogits);
  EXPECT_TRUE(capabilities.supportsContinuation);
  EXPECT_EQ(capabilities.sequenceState.disclosure, WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_NONE);
  EXPECT_EQ(capabilities.sequenceState.sessionState, WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
  Generate({1, 2}, 3);
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_EQ(capabilities.sequenceState.disclosure, WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_RETAINED);
  EXPECT_EQ(capabilities.sequenceState.retainedTokenCount, 4u);
}

TEST_F(SessionTest, AStageWithoutMediaGivesNoEncoder) {
  Open();
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_FALSE(capabilities.supportsEmbeddingSegments);
  ComPtr<IWinMLMediaEncoder> encoder;
  EXPECT_EQ(session->CreateMediaEncoderFromFile(L"projector.gguf", nullptr, encoder.GetAddressOf()), kNotSupported);
  EXPECT_EQ(session->CreateMediaEncoderFromFile(nullptr, nullptr, encoder.GetAddressOf()), E_POINTER);
}

TEST_F(SessionTest, AnswersItsViews) {
  Open();
  ComPtr<IUnknown> view;
  for (const IID& iid : {IID_IWinMLTaskRuntimeIdentity, IID_IWinMLTextGenerationSequenceDisclosure,
                         IID_IWinMLTextGenerationConstraintSession, IID_IWinMLTextGenerationConstraintContinuation}) {
    EXPECT_EQ(session->QueryInterface(iid, reinterpret_cast<void**>(view.ReleaseAndGetAddressOf())), S_OK);
  }
}

TEST_F(SessionTest, ManySessionsOfOneTask) {
  Open();
  const auto second_model = NewModel();
  const auto second_configuration = Unified(second_model.Get(), second_model.Get(), tokenizer.Get());
  ComPtr<IWinMLTextGenerationSession> first = session, second;
  ASSERT_EQ(task->CreateSession(second_configuration.Get(), second.GetAddressOf()), S_OK);
  const auto stream = Start({1}, Options(3).Get());
  session = second;
  EXPECT_EQ(Generate({2}, 3).tokens, Expected({2}, 3));
  session = first;
  EXPECT_EQ(ReadAll(stream.Get()).tokens, Expected({1}, 3));
}

}  // namespace
}  // namespace owml::test
