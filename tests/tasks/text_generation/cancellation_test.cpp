#include <thread>

#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::Each;
using testing::Le;
using testing::SizeIs;

class CancellationTest : public TextGenerationTest {};

TEST_F(CancellationTest, BeforeTheStartGivesNoTokenAndTouchesNothing) {
  Open();
  Generate({1, 2}, 2);
  const Tokens retained = Retained();
  const size_t runs = model->runs.size();
  const auto source = NewCancellation();
  source->Cancel();
  const Answer answer = Generate({7, 7}, 5, source.Get());
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  EXPECT_EQ(answer.error, S_OK);
  EXPECT_THAT(answer.tokens, SizeIs(0));
  EXPECT_EQ(answer.prompt_tokens, 2u);
  EXPECT_EQ(model->runs.size(), runs);
  EXPECT_EQ(Retained(), retained);
}

TEST_F(CancellationTest, BetweenTwoTokensIsAnsweredByTheNextCall) {
  Open();
  const auto source = NewCancellation();
  const auto stream = Start({1}, Options(50).Get(), source.Get());
  Answer answer;
  ReadOne(stream.Get(), &answer);
  ReadOne(stream.Get(), &answer);
  std::thread([&] { EXPECT_EQ(source->Cancel(), S_OK); }).join();
  answer = ReadAll(stream.Get(), answer);
  EXPECT_EQ(answer.tokens, Expected({1}, 2));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY);
  EXPECT_EQ(Generate({1}, 4).tokens, Expected({1}, 4)) << "nothing is left behind";
}

TEST_F(CancellationTest, DuringAStepIsAnsweredAfterItsToken) {
  Open();
  const auto source = NewCancellation();
  model->before_run = [&](size_t run) {
    if (run == 2) source->Cancel();
    return S_OK;
  };
  const Answer answer = Generate({1}, 50, source.Get());
  EXPECT_EQ(answer.tokens, Expected({1}, 3));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
}

TEST_F(CancellationTest, InALongPromptIsAnsweredWithinOneRunOfIt) {
  model->capacity = 5000;
  Open();
  const auto source = NewCancellation();
  model->before_run = [&](size_t run) {
    if (run == 3) source->Cancel();
    return S_OK;
  };
  const Tokens prompt(1000, 1);
  const Answer answer = Generate(prompt, 5, source.Get());
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  EXPECT_THAT(model->runs, SizeIs(4));
  EXPECT_THAT(model->runs, Each(SizeIs(Le(32u))));
  EXPECT_EQ(Retained().size(), model->sequence.size()) << "what went in is known exactly";
}

TEST_F(CancellationTest, ACancellablePromptGivesTheSameTokens) {
  model->capacity = 5000;
  Open();
  const auto source = NewCancellation();
  for (const size_t length : {1u, 15u, 16u, 17u, 100u}) {
    const Tokens prompt(length, 4);
    EXPECT_EQ(Generate(prompt, 5, source.Get()).tokens, Expected(prompt, 5)) << length;
  }
}

TEST_F(CancellationTest, AStageThatEndsRunsGetsTheWholePromptAndTheSource) {
  model->capacity = 5000;
  model->can_end_runs = true;
  Open();
  const auto source = NewCancellation();
  bool watched = false;
  model->before_run = [&](size_t) {
    watched = watched || model->watched.Get() == source.Get();
    return S_OK;
  };
  const Tokens prompt(1000, 4);
  EXPECT_EQ(Generate(prompt, 3, source.Get()).tokens, Expected(prompt, 3));
  EXPECT_TRUE(watched);
  EXPECT_THAT(model->runs.at(0), SizeIs(1000));
  EXPECT_EQ(model->watched, nullptr) << "for the prompt only";
}

TEST_F(CancellationTest, ARunThatEndedEarlyIsACancelledPrompt) {
  model->can_end_runs = true;
  Open();
  Generate({1, 2}, 2);
  const auto source = NewCancellation();
  model->before_run = [&](size_t) {
    source->Cancel();
    return HRESULT_FROM_WIN32(ERROR_CANCELLED);
  };
  const Answer answer = Generate({5, 6}, 3, source.Get());
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  EXPECT_EQ(answer.error, S_OK);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY) << "the new sequence had begun and holds nothing";
  EXPECT_EQ(model->watched, nullptr);
  model->before_run = [](size_t) { return S_OK; };
  EXPECT_EQ(Generate({5, 6}, 3).tokens, Expected({5, 6}, 3));
}

// As a model with windowed layers does it, which cannot go back so far.
TEST_F(CancellationTest, AContinuationWhoseCancelledRunEmptiedTheModelHoldsNothing) {
  model->can_end_runs = true;
  Open();
  Generate({1, 2}, 2);
  ASSERT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY);
  const auto source = NewCancellation();
  model->before_run = [&](size_t) {
    source->Cancel();
    model->sequence.clear();
    return HRESULT_FROM_WIN32(ERROR_CANCELLED);
  };
  EXPECT_EQ(Continue({5, 6}, 3, source.Get()).reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
  EXPECT_EQ(SequenceState().retainedTokenCount, 0u);
  model->before_run = [](size_t) { return S_OK; };
  EXPECT_EQ(Generate({5, 6}, 3).tokens, Expected({5, 6}, 3));
}

TEST_F(CancellationTest, ARunThatEndsWithoutBeingAskedToHasFailed) {
  model->can_end_runs = true;
  Open();
  const auto source = NewCancellation();
  model->before_run = [](size_t) { return HRESULT_FROM_WIN32(ERROR_CANCELLED); };
  EXPECT_EQ(Generate({5, 6}, 3, source.Get()).error, HRESULT_FROM_WIN32(ERROR_CANCELLED));
}

TEST_F(CancellationTest, AfterCompletionChangesNothing) {
  Open();
  const auto source = NewCancellation();
  const Answer answer = Generate({1}, 2, source.Get());
  source->Cancel();
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS);

  const auto other = NewCancellation();
  const auto stream = Start({1}, Options(1).Get(), other.Get());
  Answer last;
  ReadOne(stream.Get(), &last);
  other->Cancel();
  EXPECT_EQ(ReadAll(stream.Get(), last).reason, WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS)
      << "the limit was reached before";
}

TEST_F(CancellationTest, OneSourceServesSeveralGenerations) {
  Open();
  const auto source = NewCancellation();
  EXPECT_THAT(Generate({1}, 2, source.Get()).tokens, SizeIs(2));
  EXPECT_THAT(Generate({1}, 2, source.Get()).tokens, SizeIs(2));
  source->Cancel();
  EXPECT_EQ(Generate({1}, 2, source.Get()).reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
}

class BrokenSource final : public IWinMLCancellationSource {
 public:
  virtual ~BrokenSource() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE Cancel() override { return S_OK; }
  HRESULT STDMETHODCALLTYPE GetIsCanceled(BOOL*) override { return E_ABORT; }
};

TEST_F(CancellationTest, ASourceThatFailsEndsTheGenerationWithItsError) {
  Open();
  BrokenSource source;
  const Answer answer = Generate({1}, 2, &source);
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_ERROR);
  EXPECT_EQ(answer.error, E_ABORT);
}

}  // namespace
}  // namespace owml::test
