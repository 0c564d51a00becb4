// Speculative decoding: the tokens are those of single steps, whatever is drafted.
#include <chrono>
#include <thread>

#include "tasks/text_generation/stranger_constraint.h"
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;

constexpr auto kLookup = WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP;
constexpr auto kDraft = WINML_TEXT_GENERATION_SPECULATIVE_METHOD_DRAFT_MODEL;
constexpr auto kModel = WINML_TEXT_GENERATION_SPECULATIVE_METHOD_MODEL;
constexpr auto kNone = WINML_TEXT_GENERATION_SPECULATIVE_METHOD_NONE;

class SpeculativeTest : public TextGenerationTest {
 protected:
  // A model that likes to repeat itself: the token depends on the last two and now and then on the length.
  SpeculativeTest() {
    tokenizer.Attach(new ConstrainingTokenizer);
    draft = NewModel();
    model->capacity = draft->capacity = 400;
    model->step_width = 9;
    model->logits_of = [](const Tokens& seen) {
      std::vector<float> logits(kStrangerVocabulary, 0.0f);
      const UINT32 last = seen.back(), before = seen.size() > 1 ? seen[seen.size() - 2] : 0;
      logits[1 + (last * 3 + before + (seen.size() % 23 == 0 ? 1 : 0)) % 7] = 1.0f;
      return logits;
    };
    draft->logits_of = model->logits_of;
    // Steps take a while, so that what they cost is measured well: the same however many tokens they have.
    model->before_run = [](size_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      return S_OK;
    };
    model->before_step = [](size_t) { std::this_thread::sleep_for(std::chrono::microseconds(300)); };
  }

  ~SpeculativeTest() override {
    session.Reset();
    EXPECT_FALSE(draft->input_bound());
    EXPECT_FALSE(draft->output_requested());
  }

  HRESULT TryOpen(WINML_TEXT_GENERATION_SPECULATIVE_METHOD method, UINT32 count = 4) {
    session.Reset();
    configuration = Unified();
    ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
    EXPECT_EQ(configuration.As(&view), S_OK);
    const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS options = {method, count};
    EXPECT_EQ(view->SetSpeculativeOptions(&options), S_OK);
    if (method == kDraft) {
      EXPECT_EQ(view->SetDraftPipeline(draft.Get(), draft.Get(), 0, draft.Get(), 0, draft.Get()), S_OK);
    }
    if (!task) task = NewTask(tokenizer.Get());
    return task->CreateSession(configuration.Get(), session.GetAddressOf());
  }

  void OpenWith(WINML_TEXT_GENERATION_SPECULATIVE_METHOD method, UINT32 count = 4) {
    ASSERT_EQ(TryOpen(method, count), S_OK) << openwinml::LastErrorMessage();
  }

  // With the statistics of its result.
  Answer Speculate(const Tokens& prompt, const WINML_TEXT_GENERATION_OPTIONS& values, const Tokens& stops = {}) {
    const auto stream = Start(prompt, Options(values, stops).Get());
    Answer answer;
    while (ReadOne(stream.Get(), &answer)) {
    }
    ComPtr<IWinMLTextGenerationResult> result;
    ComPtr<IWinMLTextGenerationSpeculativeResult> speculative;
    EXPECT_EQ(stream->GetResult(result.GetAddressOf()), S_OK);
    EXPECT_EQ(result.As(&speculative), S_OK);
    EXPECT_EQ(speculative->GetSpeculativeStatistics(&statistics), S_OK);
    return ReadAll(stream.Get(), answer);
  }
  Answer Speculate(const Tokens& prompt, UINT32 count) { return Speculate(prompt, Values(count)); }

  ComPtr<StrangerModel> draft;
  WINML_TEXT_GENERATION_SPECULATIVE_STATISTICS statistics = {};
};

TEST_F(SpeculativeTest, EveryMethodGivesTheTokensOfSingleSteps) {
  model->predictor_limit = 8;
  model->predicts = [this](const Tokens& sequence, UINT32 pending, UINT32 count) {
    Tokens whole = sequence;
    whole.push_back(pending);
    return Expected(whole, count);
  };
  for (const auto method : {kNone, kLookup, kDraft, kModel}) {
    OpenWith(method);
    const Answer answer = Speculate({1, 2, 3}, 100);
    EXPECT_EQ(answer.tokens, Expected({1, 2, 3}, 100)) << method;
    EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS);
    EXPECT_EQ(statistics.method, method);
    EXPECT_LE(statistics.acceptedDraftTokenCount, statistics.draftTokenCount);
    EXPECT_EQ(statistics.verificationStepCount > 0, method != kNone);
    EXPECT_EQ(statistics.acceptedDraftTokenCount > 0, method != kNone);
    EXPECT_EQ(model->sequence.size(), 3 + 99u) << "the last token is not consumed";
    EXPECT_EQ(Retained(), model->sequence);
  }
}

TEST_F(SpeculativeTest, SamplesAreTheSameToo) {
  WINML_TEXT_GENERATION_OPTIONS values = Values(80);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE | WINML_TEXT_GENERATION_OPTION_FIELD_SEED |
                          WINML_TEXT_GENERATION_OPTION_FIELD_PRESENCE_PENALTY |
                          WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY |
                          WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY_WINDOW;
  values.temperature = 0.3f;
  values.seed = 11;
  values.presencePenalty = 0.1f;
  values.repetitionPenalty = 1.1f;
  values.repetitionPenaltyWindow = 6;
  OpenWith(kNone);
  const Tokens expected = Speculate({1, 2, 3}, values).tokens;
  for (const auto method : {kLookup, kDraft}) {
    OpenWith(method);
    EXPECT_EQ(Speculate({1, 2, 3}, values).tokens, expected);
    EXPECT_GT(statistics.draftTokenCount, 0u);
  }
}

TEST_F(SpeculativeTest, AStepTakesSeveralTokensAtOnce) {
  OpenWith(kDraft);
  Speculate({1, 2, 3}, 200);
  EXPECT_LT(model->runs.size() + model->steps.size(), 150u) << "far fewer unless the machine is very busy";
  EXPECT_THAT(model->steps, testing::Each(SizeIs(Le(5u)))) << "the pending token and four drafts";
}

TEST_F(SpeculativeTest, NoMoreIsDraftedThanAskedForOrThanTheStageCanVerify) {
  OpenWith(kDraft, 0);
  Speculate({1, 2, 3}, 40);
  EXPECT_THAT(model->steps, testing::Each(SizeIs(Le(4u)))) << "0 = three drafts";
  model->steps.clear();
  model->step_width = 2;
  OpenWith(kDraft, 8);
  Speculate({1, 2, 3}, 40);
  EXPECT_THAT(model->steps, testing::Each(SizeIs(2)));
  model->steps.clear();
  model->step_width = 9;
  model->rollback = WINML_SPECULATIVE_ROLLBACK_BOUND_BOUNDED;
  model->rollback_depth = 2;
  OpenWith(kDraft, 8);
  Speculate({1, 2, 3}, 40);
  EXPECT_THAT(model->steps, testing::Each(SizeIs(Le(3u)))) << "two can be taken back";
}

TEST_F(SpeculativeTest, LimitsAndCapacityHoldExactly) {
  for (const UINT32 count : {1u, 2u, 5u, 6u, 7u, 31u}) {
    OpenWith(kDraft);
    Speculate({1, 2, 3}, 20);
    const Answer answer = Speculate({1, 2, 3}, count);
    EXPECT_EQ(answer.tokens, Expected({1, 2, 3}, count));
    EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS);
    EXPECT_LE(model->sequence.size(), 3 + count - 1) << "nothing is evaluated past the limit";
  }
  for (const UINT64 capacity : {5u, 8u, 9u, 10u, 30u}) {
    model->capacity = capacity;
    OpenWith(kDraft);
    const Answer answer = Speculate({1, 2, 3}, 1000);
    EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
    EXPECT_EQ(answer.tokens, Expected({1, 2, 3}, capacity - 3));
  }
}

TEST_F(SpeculativeTest, AnEndOrAStopInTheMiddleOfAStepEndsThere) {
  model->logits_of = draft->logits_of = [](const Tokens& seen) {
    std::vector<float> logits(kStrangerVocabulary, 0.0f);
    logits[seen.size() == 25 ? kEnd : 1 + seen.size() % 5] = 1.0f;
    return logits;
  };
  OpenWith(kDraft);
  const Answer answer = Speculate({1, 2, 3}, 100);
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN);
  EXPECT_THAT(answer.tokens, SizeIs(22));
  EXPECT_EQ(model->sequence.size(), 25u) << "the end token is not consumed";
  EXPECT_EQ(Retained(), model->sequence);

  const Answer stopped = Speculate({4, 5, 1, 2, 3, 4, 5, 1, 2, 3}, Values(100), {4});
  EXPECT_EQ(stopped.reason, WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN);
  EXPECT_EQ(Retained(), model->sequence);
  for (const UINT32 token : stopped.tokens) EXPECT_NE(token, 4u);
}

TEST_F(SpeculativeTest, CancellingGivesBackWhatWasEvaluatedAhead) {
  OpenWith(kDraft);
  const auto source = NewCancellation();
  const auto stream = Start({1, 2, 3}, Options(200).Get(), source.Get());
  Answer answer;
  for (int i = 0; i < 41; ++i) ReadOne(stream.Get(), &answer);
  source->Cancel();
  answer = ReadAll(stream.Get(), answer);
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  EXPECT_THAT(answer.tokens, SizeIs(41));
  Tokens all = {1, 2, 3};
  all.insert(all.end(), answer.tokens.begin(), answer.tokens.end());
  EXPECT_LE(Retained().size(), all.size()) << "nothing that was not shown";
  all.resize(Retained().size());
  EXPECT_EQ(Retained(), all);
  EXPECT_EQ(Retained(), model->sequence);
}

TEST_F(SpeculativeTest, AStreamDroppedOnTheWayLeavesWhatTheModelHolds) {
  OpenWith(kDraft);
  {
    const auto stream = Start({1, 2, 3}, Options(200).Get());
    Answer answer;
    for (int i = 0; i < 20; ++i) ReadOne(stream.Get(), &answer);
  }
  EXPECT_EQ(Retained(), model->sequence);
  EXPECT_EQ(Speculate({1, 2, 3}, 30).tokens, Expected({1, 2, 3}, 30));
}

TEST_F(SpeculativeTest, AContinuationDraftsFromAllOfTheSequence) {
  OpenWith(kLookup);
  Speculate({1, 2, 3}, 30);
  const Tokens retained = Retained();
  Tokens whole = retained;
  whole.insert(whole.end(), {5, 6});
  EXPECT_EQ(Continue({5, 6}, 30).tokens, Expected(whole, 30));
  ASSERT_EQ(model->RewindTo(4), S_OK);
  whole.assign(retained.begin(), retained.begin() + 4);
  whole.insert(whole.end(), {7, 7});
  EXPECT_EQ(Continue({7, 7}, 30).tokens, Expected(whole, 30)) << "after a rewind as well";
}

TEST_F(SpeculativeTest, DraftsThatAreNeverRightAreGivenUp) {
  draft->logits_of = [](const Tokens&) {
    std::vector<float> logits(kStrangerVocabulary, 0.0f);
    logits[26] = 1.0f;
    return logits;
  };
  model->before_step = [](size_t tokens) { std::this_thread::sleep_for(std::chrono::microseconds(300 * tokens)); };
  OpenWith(kDraft);
  const Answer answer = Speculate({1, 2, 3}, 200);
  EXPECT_EQ(answer.tokens, Expected({1, 2, 3}, 200));
  EXPECT_LT(statistics.verificationStepCount, 60u) << "of 199 steps";
}

TEST_F(SpeculativeTest, ADraftModelThatCannotGoBackProposesNothingMore) {
  draft->logits_of = NewModel()->logits_of;  // wrong most of the time
  draft->rewind_result = E_INVALIDARG;
  OpenWith(kDraft);
  EXPECT_EQ(Speculate({1, 2, 3}, 60).tokens, Expected({1, 2, 3}, 60));
  EXPECT_LE(statistics.verificationStepCount, 60u);
}

TEST_F(SpeculativeTest, ADraftModelThatRemembersAPartOnlyBeginsAnewWithAnotherPrompt) {
  draft->rollback = WINML_SPECULATIVE_ROLLBACK_BOUND_BOUNDED;
  draft->rollback_depth = 4;
  OpenWith(kDraft);
  Speculate({1, 2, 3}, 60);
  const Answer answer = Speculate({1, 5, 2}, 60);
  EXPECT_EQ(answer.tokens, Expected({1, 5, 2}, 60));
  EXPECT_GT(statistics.acceptedDraftTokenCount, 0u);
}

TEST_F(SpeculativeTest, ADraftModelThatFailsEndsTheGenerationWithItsError) {
  OpenWith(kDraft);
  draft->before_run = [](size_t run) { return run == 2 ? E_ABORT : S_OK; };
  const Answer answer = Speculate({1, 2, 3}, 60);
  EXPECT_EQ(answer.error, E_ABORT);
  EXPECT_THAT(answer.sentence, HasSubstr("draft pipeline"));
}

TEST_F(SpeculativeTest, AConstrainedStreamGoesTokenByToken) {
  OpenWith(kDraft);
  ComPtr<StrangerConstraint> constraint;
  constraint.Attach(new StrangerConstraint);
  ComPtr<IWinMLTextGenerationConstraintSession> view;
  ASSERT_EQ(session.As(&view), S_OK);
  const UINT32 prompt[] = {1, 2, 3};
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(view->GenerateTokensWithConstraint(3, prompt, constraint.Get(), Options(20).Get(), nullptr,
                                               stream.GetAddressOf()),
            S_OK);
  Answer answer;
  while (ReadOne(stream.Get(), &answer)) {
  }
  ComPtr<IWinMLTextGenerationResult> result;
  ComPtr<IWinMLTextGenerationSpeculativeResult> speculative;
  ASSERT_EQ(stream->GetResult(result.GetAddressOf()), S_OK);
  ASSERT_EQ(result.As(&speculative), S_OK);
  ASSERT_EQ(speculative->GetSpeculativeStatistics(&statistics), S_OK);
  EXPECT_EQ(statistics.method, kNone);
  EXPECT_EQ(statistics.verificationStepCount, 0u);
  EXPECT_EQ(answer.tokens, Expected({1, 2, 3}, 20));
}

TEST_F(SpeculativeTest, WhatCannotRunIsRefusedAndTheConfigurationStays) {
  const auto refused = [&](WINML_TEXT_GENERATION_SPECULATIVE_METHOD method, const char* why) {
    EXPECT_EQ(TryOpen(method), kNotSupported) << why;
    EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr(why));
    ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
    EXPECT_EQ(configuration.As(&view), S_OK);
    const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS none = {kNone, 0};
    EXPECT_EQ(view->SetSpeculativeOptions(&none), S_OK);
    EXPECT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK) << "with another method";
  };
  refused(kModel, "no draft predictor");
  model->step_width = 1;
  refused(kLookup, "cannot verify");
  model->step_width = 0;
  refused(kLookup, "GetSpeculativeCapabilities");
  model->step_width = 9;
  model->rollback = WINML_SPECULATIVE_ROLLBACK_BOUND_UNSUPPORTED;
  refused(kLookup, "take tokens back");
}

TEST_F(SpeculativeTest, AnotherStateOwnerOrPipelinesThatSampleAreRefused) {
  const auto other = NewModel();
  configuration = Unified();
  ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
  ASSERT_EQ(configuration.As(&view), S_OK);
  const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS options = {kLookup, 3};
  ASSERT_EQ(view->SetSpeculativeOptions(&options), S_OK);
  ASSERT_EQ(configuration->SetStateOwnerStage(other.Get()), S_OK);
  task = NewTask(tokenizer.Get());
  EXPECT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), kNotSupported);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("state owner"));
  model->samples = true;
  ASSERT_EQ(configuration->SetStateOwnerStage(model.Get()), S_OK);
  ASSERT_EQ(configuration->SetOutput(kUnified, model.Get(), 0, kSampled), S_OK);
  EXPECT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), kNotSupported);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("samples by itself"));
  configuration.Reset();
}

TEST_F(SpeculativeTest, TheDraftPipelineBelongsToTheSession) {
  OpenWith(kDraft);
  const auto second = NewModel();
  second->step_width = 9;
  const auto busy = Unified(second.Get(), second.Get(), tokenizer.Get());
  ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
  ASSERT_EQ(busy.As(&view), S_OK);
  const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS options = {kDraft, 3};
  ASSERT_EQ(view->SetSpeculativeOptions(&options), S_OK);
  ASSERT_EQ(view->SetDraftPipeline(draft.Get(), draft.Get(), 0, draft.Get(), 0, draft.Get()), S_OK);
  ComPtr<IWinMLTextGenerationSession> other;
  EXPECT_EQ(task->CreateSession(busy.Get(), other.GetAddressOf()), kBusy);
  ASSERT_EQ(session->Close(), S_OK);
  EXPECT_EQ(task->CreateSession(busy.Get(), other.GetAddressOf()), S_OK);
}

}  // namespace
}  // namespace owml::test
