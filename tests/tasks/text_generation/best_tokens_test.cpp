// Generation over a pipeline that gives its highest logits without the row: when that is asked for, and that nothing
// else tells the two ways apart.
#include <limits>

#include "tasks/text_generation/stranger_constraint.h"
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class BestTokensTest : public TextGenerationTest {
 protected:
  BestTokensTest() {
    tokenizer.Attach(new ConstrainingTokenizer);
    model->most_best = 20;
    // Every token has a chance, and there are ties.
    model->logits_of = [](const Tokens& seen) {
      UINT32 state = 1;
      for (const UINT32 token : seen) state = state * 31 + token + 7;
      std::vector<float> logits(kStrangerVocabulary);
      for (float& logit : logits) {
        state = state * 1664525 + 1013904223;
        logit = static_cast<float>(state >> 28) / 4;
      }
      logits[kEnd] = -std::numeric_limits<float>::infinity();
      return logits;
    };
  }

  static WINML_TEXT_GENERATION_OPTIONS TopK(UINT32 k) {
    WINML_TEXT_GENERATION_OPTIONS values = Values(30);
    values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE | WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K |
                            WINML_TEXT_GENERATION_OPTION_FIELD_SEED;
    values.temperature = 1.0f;
    values.topK = k;
    values.seed = 11;
    return values;
  }

  Answer Answered(const WINML_TEXT_GENERATION_OPTIONS& values) {
    model->lists.clear();
    return ReadAll(Start({3, 1, 4}, Options(values).Get()).Get());
  }

  // The same generation where the pipeline gives rows only.
  Answer OnRows(const WINML_TEXT_GENERATION_OPTIONS& values) {
    const UINT32 most = std::exchange(model->most_best, 0);
    Open();
    const Answer answer = Answered(values);
    EXPECT_THAT(model->lists, IsEmpty());
    model->most_best = most;
    Open();
    return answer;
  }
};

TEST_F(BestTokensTest, GreedyTokensComeFromTheHighestLogitOfEachRun) {
  Open();
  const Answer answer = Answered(Values(12));
  EXPECT_EQ(answer.tokens, Expected({3, 1, 4}, 12));
  EXPECT_EQ(model->lists, std::vector<UINT32>(12, 1)) << "one for the prompt and one for each token that was run";
  EXPECT_FALSE(model->output_requested());
  EXPECT_EQ(Continue({5}, 3).tokens.size(), 3u);
  EXPECT_THAT(model->lists, SizeIs(15));
}

TEST_F(BestTokensTest, TopKTakesOneMoreThanItKeepsAndDrawsTheSameTokens) {
  for (const UINT32 k : {1u, 2u, 7u, 19u}) {
    const Answer expected = OnRows(TopK(k));
    const Answer answer = Answered(TopK(k));
    EXPECT_EQ(answer.tokens, expected.tokens) << "top-k " << k;
    EXPECT_EQ(model->lists, std::vector<UINT32>(30, k + 1));
  }
}

TEST_F(BestTokensTest, TopPAndMinPBehindTopKDrawTheSameTokens) {
  WINML_TEXT_GENERATION_OPTIONS values = TopK(9);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TOP_P;
  values.topP = 0.7f;
  const Answer expected = OnRows(values);
  EXPECT_EQ(Answered(values).tokens, expected.tokens);
  EXPECT_EQ(model->lists, std::vector<UINT32>(30, 10));
}

TEST_F(BestTokensTest, WhatReadsMoreOfARowGetsTheRow) {
  WINML_TEXT_GENERATION_OPTIONS penalized = Values(12);
  penalized.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY;
  penalized.repetitionPenalty = 1.5f;
  WINML_TEXT_GENERATION_OPTIONS warm = TopK(0);
  warm.presentFields &= ~WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K;
  Open();
  for (const auto& values : {penalized, warm, TopK(20)}) {
    EXPECT_EQ(Answered(values).error, S_OK);
    EXPECT_THAT(model->lists, IsEmpty());
    EXPECT_TRUE(model->output_requested());
  }
  EXPECT_EQ(Answered(Values(12)).tokens, Expected({3, 1, 4}, 12)) << "the next one asks for the highest again";
  EXPECT_THAT(model->lists, SizeIs(12));
}

TEST_F(BestTokensTest, AConstraintSeesTheRow) {
  Open();
  ComPtr<StrangerConstraint> constraint;
  constraint.Attach(new StrangerConstraint);
  ComPtr<IWinMLTextGenerationConstraintSession> view;
  ASSERT_EQ(session.As(&view), S_OK);
  const UINT32 prompt[] = {1, 2};
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(
      view->GenerateTokensWithConstraint(2, prompt, constraint.Get(), Options(5).Get(), nullptr, stream.GetAddressOf()),
      S_OK);
  EXPECT_EQ(ReadAll(stream.Get()).error, S_OK);
  EXPECT_THAT(model->lists, IsEmpty());
}

TEST_F(BestTokensTest, DraftsAreVerifiedOnRows) {
  model->step_width = 9;
  configuration = Unified();
  ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
  ASSERT_EQ(configuration.As(&view), S_OK);
  const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS options = {WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP, 4};
  ASSERT_EQ(view->SetSpeculativeOptions(&options), S_OK);
  task = NewTask(tokenizer.Get());
  ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK);
  EXPECT_EQ(Answered(Values(20)).tokens, Expected({3, 1, 4}, 20));
  EXPECT_THAT(model->lists, IsEmpty());
}

TEST_F(BestTokensTest, AnOutputThatTheApplicationPublishesIsWritten) {
  Open();
  ASSERT_EQ(model->RequestOutput(0), S_OK);
  EXPECT_EQ(Answered(Values(5)).tokens, Expected({3, 1, 4}, 5));
  EXPECT_THAT(model->lists, IsEmpty());
  ComPtr<IWinMLTensor> row;
  EXPECT_EQ(model->GetOutput(0, row.GetAddressOf()), S_OK);
  ASSERT_EQ(model->ResetOutput(0), S_OK);

  const auto stream = Start({3, 1, 4}, Options(6).Get());
  Answer answer;
  ReadOne(stream.Get(), &answer);
  ReadOne(stream.Get(), &answer);
  ASSERT_EQ(model->RequestOutput(0), S_OK);
  EXPECT_EQ(ReadAll(stream.Get(), answer).tokens, Expected({3, 1, 4}, 6)) << "also on the way";
  EXPECT_THAT(model->lists, SizeIs(2));
  EXPECT_EQ(model->GetOutput(0, row.ReleaseAndGetAddressOf()), S_OK);
  ASSERT_EQ(model->ResetOutput(0), S_OK);
}

TEST_F(BestTokensTest, ARowThatCannotBeSampledFailsAsAWholeRowDoes) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    model->logits_of = [bad](const Tokens&) {
      std::vector<float> logits(kStrangerVocabulary, 1);
      logits[9] = logits[20] = bad;
      return logits;
    };
    for (const auto& values : {Values(3), TopK(4)}) {
      const Answer expected = OnRows(values);
      const Answer answer = Answered(values);
      EXPECT_EQ(answer.error, kBadData);
      EXPECT_EQ(answer.sentence, expected.sentence);
      EXPECT_THAT(answer.sentence, HasSubstr("token 9 of 29"));
    }
  }
}

TEST_F(BestTokensTest, AListThatNoRowCouldHaveEndsTheGeneration) {
  Open();
  const auto fails = [&](std::function<void(std::vector<OWML_TOKEN_LOGIT>*)> spoil, const char* why) {
    model->spoil_best = std::move(spoil);
    const Answer answer = Answered(TopK(3));
    EXPECT_EQ(answer.error, E_UNEXPECTED);
    EXPECT_THAT(answer.sentence, HasSubstr(why));
    EXPECT_EQ(session->Reset(), S_OK);
  };
  fails([](auto* list) { list->at(1).tokenId = kStrangerVocabulary; }, "29");
  fails([](auto* list) { list->at(1) = list->at(2); }, "twice");
}

TEST_F(BestTokensTest, AFailedRunIsTheGenerationsFailure) {
  Open();
  model->before_run = [](size_t run) { return run == 2 ? E_ABORT : S_OK; };
  const Answer answer = Answered(Values(9));
  EXPECT_EQ(answer.error, E_ABORT);
  EXPECT_THAT(answer.sentence, HasSubstr("running the unified pipeline"));
  EXPECT_THAT(answer.tokens, SizeIs(2));
}

}  // namespace
}  // namespace owml::test
