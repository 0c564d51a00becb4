// Two pipelines: one takes the prompt, the other one token a step, bound by the task or fed back by the pipeline.
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class PrefillDecodeTest : public TextGenerationTest {
 protected:
  PrefillDecodeTest() {
    decode = NewModel();
    decode->capacity = 0;
    task = NewTask(tokenizer.Get());
  }
  ~PrefillDecodeTest() override {
    session.Reset();
    configuration.Reset();
    EXPECT_FALSE(decode->input_bound());
    EXPECT_FALSE(decode->output_requested());
    EXPECT_EQ(decode->references(), 1u);
  }

  ComPtr<IWinMLTextGenerationConfiguration> TwoPipelines() {
    auto made = NewConfiguration();
    made->SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE_PREFILL_DECODE);
    made->SetPipeline(kPrefill, model.Get());
    made->SetTokenInput(kPrefill, model.Get(), 0);
    made->SetOutput(kPrefill, model.Get(), 0, kLogits);
    made->SetPipeline(kDecode, decode.Get());
    made->SetTokenInput(kDecode, decode.Get(), 0);
    made->SetOutput(kDecode, decode.Get(), 0, decode->samples ? kSampled : kLogits);
    made->SetLogicalCapacity(16);
    made->SetTokenTarget(cpu.Get());
    made->SetTokenizer(tokenizer.Get());
    return made;
  }

  void OpenTwo() {
    configuration = TwoPipelines();
    ASSERT_EQ(task->CreateSession(configuration.Get(), session.ReleaseAndGetAddressOf()), S_OK)
        << openwinml::LastErrorMessage();
  }

  // The application's part between two reads: the sequence goes from one model to the other.
  Answer ReadAllMovingState(IWinMLTextGenerationPullStream* stream) {
    Answer answer;
    if (ReadOne(stream, &answer)) {
      decode->sequence = model->sequence;
      answer = ReadAll(stream, answer);
    }
    return answer;
  }

  ComPtr<StrangerModel> decode;
};

TEST_F(PrefillDecodeTest, GivesTheTokensOfTheGreedyLoop) {
  OpenTwo();
  for (int round = 0; round < 2; ++round) {
    const Answer answer = ReadAllMovingState(Start({3, 1, 4}, Options(6).Get()).Get());
    EXPECT_EQ(answer.tokens, Expected({3, 1, 4}, 6));
    EXPECT_EQ(answer.prompt_tokens, 3u);
  }
  EXPECT_THAT(model->runs, ElementsAre(Tokens{3, 1, 4}, Tokens{3, 1, 4}));
  EXPECT_THAT(decode->runs, SizeIs(10));
}

TEST_F(PrefillDecodeTest, ThePromptIsOneRunEvenWhenItCanBeCancelled) {
  model->capacity = 0;
  configuration = TwoPipelines();
  configuration->SetLogicalCapacity(500);
  ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK);
  const auto source = NewCancellation();
  ReadAllMovingState(Start(Tokens(100, 1), Options(1).Get(), source.Get()).Get());
  EXPECT_THAT(model->runs, ElementsAre(SizeIs(100)));
}

TEST_F(PrefillDecodeTest, APromptIsCancelledAfterItsRun) {
  OpenTwo();
  const auto source = NewCancellation();
  model->before_run = [&](size_t) {
    source->Cancel();
    return S_OK;
  };
  const Answer answer = ReadAllMovingState(Start({1, 2}, Options(5).Get(), source.Get()).Get());
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  EXPECT_THAT(answer.tokens, SizeIs(1));
}

TEST_F(PrefillDecodeTest, ASampledTokenIsFedBackByThePipeline) {
  decode->samples = true;
  // The edge of the next iteration: unless a token is bound anew, the model takes its own.
  configuration = TwoPipelines();
  configuration->SetDecodeInputMode(WINML_TEXT_GENERATION_DECODE_INPUT_MODE_PIPELINE_FEEDBACK);
  ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK) << openwinml::LastErrorMessage();
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_EQ(capabilities.executionProfile, WINML_TEXT_GENERATION_EXECUTION_PROFILE_PREFILL_DECODE_PIPELINE_FEEDBACK);
  EXPECT_EQ(capabilities.outputKind, kSampled);
  const Answer answer = ReadAllMovingState(Start({3, 1, 4}, Options(4).Get()).Get());
  // This model has no such edge, so that it sees the first token of the answer again and again.
  EXPECT_THAT(decode->runs, ElementsAre(Tokens{answer.tokens[0]}, Tokens{answer.tokens[0]}, Tokens{answer.tokens[0]}));
}

TEST_F(PrefillDecodeTest, TellsItsProfileAndThatItCannotContinue) {
  OpenTwo();
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_EQ(capabilities.executionProfile, WINML_TEXT_GENERATION_EXECUTION_PROFILE_PREFILL_DECODE_CALLER_BOUND);
  EXPECT_FALSE(capabilities.supportsContinuation);
  ReadAllMovingState(Start({3, 1, 4}, Options(2).Get()).Get());
  EXPECT_EQ(SequenceState().disclosure, WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_UNUSABLE);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY);
  const UINT32 token = 1;
  ComPtr<IWinMLTextGenerationPullStream> stream;
  EXPECT_EQ(session->ContinueTokens(1, &token, nullptr, nullptr, stream.GetAddressOf()), kNotSupported);
  ComPtr<IWinMLMediaEncoder> encoder;
  EXPECT_EQ(session->CreateMediaEncoderFromFile(L"a", nullptr, encoder.GetAddressOf()), kNotSupported);
  EXPECT_FALSE(capabilities.supportsSegmentedPrompts);
  const WINML_GENERATION_SEGMENT segment = {WINML_GENERATION_SEGMENT_KIND_TOKENS, 1, &token, nullptr, nullptr};
  EXPECT_EQ(session->GenerateSegments(1, &segment, nullptr, nullptr, stream.GetAddressOf()), kNotSupported);
}

TEST_F(PrefillDecodeTest, APromptMustLeaveAPosition) {
  OpenTwo();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  const Tokens prompt(16, 1);
  EXPECT_EQ(session->GenerateTokens(16, prompt.data(), nullptr, nullptr, stream.GetAddressOf()), kTooLong);
  EXPECT_THAT(openwinml::LastErrorMessage(), AllOf(HasSubstr("16 tokens"), HasSubstr("capacity of 16")));
  EXPECT_EQ(session->GenerateTokens(15, prompt.data(), nullptr, nullptr, stream.GetAddressOf()), S_OK);
  const Answer answer = ReadAllMovingState(stream.Get());
  EXPECT_THAT(answer.tokens, SizeIs(1));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
}

TEST_F(PrefillDecodeTest, APrefillOfFixedLengthTakesThatLengthOnly) {
  model->token_dims = {1, 3};
  OpenTwo();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  const Tokens prompt = {3, 1, 4, 1};
  EXPECT_EQ(session->GenerateTokens(4, prompt.data(), nullptr, nullptr, stream.GetAddressOf()), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), AllOf(HasSubstr("4 tokens"), HasSubstr("exactly 3")));
  EXPECT_EQ(ReadAllMovingState(Start({3, 1, 4}, Options(3).Get()).Get()).tokens, Expected({3, 1, 4}, 3));
}

TEST_F(PrefillDecodeTest, ValidateSaysWhatIsMissingOrWrong) {
  const auto check = [&](IWinMLTextGenerationConfiguration* made, HRESULT code, const std::string& sentence) {
    EXPECT_EQ(made->Validate(), code);
    EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr(sentence));
  };
  auto made = TwoPipelines();
  EXPECT_EQ(made->Validate(), S_OK);
  made->SetLogicalCapacity(0);
  check(made.Get(), E_NOT_VALID_STATE, "logical capacity");
  made = TwoPipelines();
  made->SetDecodeInputMode(WINML_TEXT_GENERATION_DECODE_INPUT_MODE_PIPELINE_FEEDBACK);
  check(made.Get(), E_INVALIDARG, "sampled tokens");
  made = TwoPipelines();
  made->SetPipeline(kDecode, model.Get());
  check(made.Get(), E_INVALIDARG, "the same");
  made = TwoPipelines();
  made->SetPipeline(kUnified, model.Get());
  check(made.Get(), E_INVALIDARG, "the unified phase is configured");
  decode->token_dims = {1, 2};
  check(TwoPipelines().Get(), E_INVALIDARG, "the decode token input takes 2 tokens");
}

TEST_F(PrefillDecodeTest, AStateOwnerIsAllowed) {
  configuration = TwoPipelines();
  configuration->SetStateOwnerStage(decode.Get());
  EXPECT_EQ(configuration->Validate(), S_OK);
  decode->has_sequence = false;
  EXPECT_EQ(configuration->Validate(), E_INVALIDARG);
}

TEST_F(PrefillDecodeTest, BothPipelinesAreHeld) {
  OpenTwo();
  const auto other = Unified(decode.Get(), decode.Get(), tokenizer.Get());
  ComPtr<IWinMLTextGenerationSession> second;
  EXPECT_EQ(task->CreateSession(other.Get(), second.GetAddressOf()), kBusy);
  session->Close();
  EXPECT_EQ(task->CreateSession(other.Get(), second.GetAddressOf()), S_OK);
}

}  // namespace
}  // namespace owml::test
