// A stream moves only while it is read; it can be closed, dropped and asked at any time.
#include <thread>

#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::SizeIs;

class PullStreamTest : public TextGenerationTest {
 protected:
  HRESULT Read(IWinMLTextGenerationPullStream* stream) {
    auto status = WINML_TEXT_GENERATION_READ_STATUS_UPDATE;
    UINT32 token = 0;
    LPCWSTR fragment = nullptr;
    return stream->ReadNext(&status, &token, &fragment);
  }
};

TEST_F(PullStreamTest, RunsOneStepInTheCallThatReturnsItsToken) {
  Open();
  const auto stream = Start({3, 1, 4}, Options(3).Get());
  EXPECT_THAT(model->runs, SizeIs(0));
  Answer answer;
  for (size_t read = 1; read <= 3; ++read) {
    EXPECT_TRUE(ReadOne(stream.Get(), &answer));
    EXPECT_THAT(model->runs, SizeIs(read));
  }
  EXPECT_FALSE(ReadOne(stream.Get(), &answer));
  EXPECT_THAT(model->runs, SizeIs(3)) << "the token of the limit is not fed";
}

TEST_F(PullStreamTest, SaysCompletedAsOftenAsAsked) {
  Open();
  const auto stream = Start({1}, Options(1).Get());
  Answer answer;
  EXPECT_TRUE(ReadOne(stream.Get(), &answer));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ReadOne(stream.Get(), &answer));
}

TEST_F(PullStreamTest, TheResultComesAfterCompletion) {
  Open();
  const auto stream = Start({1}, Options(2).Get());
  ComPtr<IWinMLTextGenerationResult> result, again;
  EXPECT_EQ(stream->GetResult(result.GetAddressOf()), E_NOT_VALID_STATE);
  Answer answer;
  ReadOne(stream.Get(), &answer);
  ReadOne(stream.Get(), &answer);
  EXPECT_EQ(stream->GetResult(result.GetAddressOf()), E_NOT_VALID_STATE) << "all tokens read, but not the completion";
  ReadOne(stream.Get(), &answer);
  EXPECT_EQ(stream->GetResult(result.GetAddressOf()), S_OK);
  EXPECT_EQ(stream->GetResult(again.GetAddressOf()), S_OK);
  EXPECT_EQ(stream->Close(), S_OK);
  LPCWSTR text = nullptr;
  EXPECT_EQ(result->GetText(&text), S_OK) << "outlives the stream";
  EXPECT_EQ(text, LettersOf(answer.tokens));
}

TEST_F(PullStreamTest, AfterCloseOnlyCloseWorks) {
  Open();
  for (const int reads : {0, 1, 5}) {
    const auto stream = Start({1}, Options(3).Get());
    Answer answer;
    for (int i = 0; i < reads; ++i) ReadOne(stream.Get(), &answer);
    EXPECT_EQ(stream->Close(), S_OK);
    EXPECT_EQ(stream->Close(), S_OK);
    EXPECT_EQ(Read(stream.Get()), E_NOT_VALID_STATE);
    ComPtr<IWinMLTextGenerationResult> result;
    EXPECT_EQ(stream->GetResult(result.GetAddressOf()), E_NOT_VALID_STATE);
  }
}

TEST_F(PullStreamTest, AnAbandonedGenerationLeavesWhatWasConsumed) {
  Open();
  const auto stream = Start({1, 2}, Options(9).Get());
  Answer answer;
  for (int i = 0; i < 3; ++i) ReadOne(stream.Get(), &answer);
  EXPECT_EQ(stream->Close(), S_OK);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY);
  EXPECT_EQ(Retained(), (Tokens{1, 2, answer.tokens[0], answer.tokens[1]}));
  EXPECT_EQ(Continue({answer.tokens[2]}, 3).tokens[0], Expected({1, 2}, 4)[3]);
}

TEST_F(PullStreamTest, AStreamThatWasNeverReadChangesNothing) {
  Open();
  Generate({1, 2}, 2);
  const Tokens retained = Retained();
  EXPECT_EQ(Start({7, 7, 7})->Close(), S_OK);
  EXPECT_EQ(Retained(), retained);
}

TEST_F(PullStreamTest, ADroppedStreamFreesItsSession) {
  Open();
  auto stream = Start({1, 2}, Options(9).Get());
  Answer answer;
  ReadOne(stream.Get(), &answer);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_ACTIVE);
  stream.Reset();
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY);
  EXPECT_EQ(Generate({1, 2}, 3).tokens, Expected({1, 2}, 3));
}

TEST_F(PullStreamTest, TheLastReferenceMayGoOnAnotherThread) {
  Open();
  auto stream = Start({1, 2}, Options(9).Get());
  Answer answer;
  ReadOne(stream.Get(), &answer);
  std::thread([&] { stream.Reset(); }).join();
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY);
  std::thread([&] { session.Reset(); }).join();
}

TEST_F(PullStreamTest, OutlivesTheLastReferenceToItsSession) {
  Open();
  const auto stream = Start({1, 2}, Options(3).Get());
  session.Reset();
  EXPECT_EQ(ReadAll(stream.Get()).tokens, Expected({1, 2}, 3));
}

TEST_F(PullStreamTest, BelongsToTheThreadOfItsSession) {
  Open();
  const auto stream = Start({1}, Options(2).Get());
  std::thread([&] {
    ComPtr<IWinMLTextGenerationResult> result;
    EXPECT_EQ(Read(stream.Get()), RPC_E_WRONG_THREAD);
    EXPECT_EQ(stream->GetResult(result.GetAddressOf()), RPC_E_WRONG_THREAD);
    EXPECT_EQ(stream->Close(), RPC_E_WRONG_THREAD);
  }).join();
  EXPECT_THAT(ReadAll(stream.Get()).tokens, SizeIs(2));
}

TEST_F(PullStreamTest, RefusesNullPointers) {
  Open();
  const auto stream = Start({1}, Options(2).Get());
  auto status = WINML_TEXT_GENERATION_READ_STATUS_UPDATE;
  UINT32 token = 0;
  LPCWSTR fragment = nullptr;
  EXPECT_EQ(stream->ReadNext(nullptr, &token, &fragment), E_POINTER);
  EXPECT_EQ(stream->ReadNext(&status, nullptr, &fragment), E_POINTER);
  EXPECT_EQ(stream->ReadNext(&status, &token, nullptr), E_POINTER);
  EXPECT_EQ(stream->GetResult(nullptr), E_POINTER);
  EXPECT_THAT(model->runs, SizeIs(0)) << "no token was lost";
}

TEST_F(PullStreamTest, CallsFromWithinAStepAreRefused) {
  Open();
  const auto stream = Start({1}, Options(2).Get());
  int calls = 0;
  model->before_run = [&](size_t) {
    ++calls;
    EXPECT_EQ(Read(stream.Get()), E_NOT_VALID_STATE);
    EXPECT_EQ(stream->Close(), E_NOT_VALID_STATE);
    EXPECT_EQ(session->Reset(), E_NOT_VALID_STATE);
    EXPECT_EQ(session->Close(), E_NOT_VALID_STATE);
    return S_OK;
  };
  EXPECT_THAT(ReadAll(stream.Get()).tokens, SizeIs(2));
  EXPECT_EQ(calls, 2);
  model->before_run = [](size_t) { return S_OK; };
}

TEST_F(PullStreamTest, TenThousandOpenedAndDroppedLeaveNothing) {
  Open();
  const ULONG before = model->references();
  const auto options = Options(4);
  for (int i = 0; i < 10000; ++i) {
    auto stream = Start({1}, options.Get());
    Answer answer;
    if (i % 100 == 0) ReadOne(stream.Get(), &answer);
    if (i % 3 == 0) {
      EXPECT_EQ(stream->Close(), S_OK);
    }
  }
  EXPECT_EQ(model->references(), before);
}

TEST_F(PullStreamTest, StatisticsSayThatNothingWasDrafted) {
  Open();
  const auto stream = Start({1}, Options(1).Get());
  Answer answer;
  while (ReadOne(stream.Get(), &answer)) {
  }
  ComPtr<IWinMLTextGenerationResult> result;
  ComPtr<IWinMLTextGenerationSpeculativeResult> speculative;
  ASSERT_EQ(stream->GetResult(result.GetAddressOf()), S_OK);
  ASSERT_EQ(result.As(&speculative), S_OK);
  WINML_TEXT_GENERATION_SPECULATIVE_STATISTICS statistics = {WINML_TEXT_GENERATION_SPECULATIVE_METHOD_MODEL, 1, 1, 1};
  EXPECT_EQ(speculative->GetSpeculativeStatistics(&statistics), S_OK);
  EXPECT_EQ(statistics.method, WINML_TEXT_GENERATION_SPECULATIVE_METHOD_NONE);
  EXPECT_EQ(statistics.verificationStepCount, 0u);
  EXPECT_EQ(statistics.draftTokenCount, 0u);
  EXPECT_EQ(statistics.acceptedDraftTokenCount, 0u);
}

}  // namespace
}  // namespace owml::test
