// Generation under constraints, through the two views of a session.
#include <cmath>
#include <limits>
#include <thread>

#include "tasks/text_generation/stranger_constraint.h"
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class ConstraintTest : public TextGenerationTest {
 protected:
  ConstraintTest() {
    tokenizer.Attach(new ConstrainingTokenizer);
    constraint.Attach(new StrangerConstraint);
    // The higher the token, the higher its logit.
    model->logits_of = [](const Tokens&) {
      std::vector<float> logits(kStrangerVocabulary);
      for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i);
      return logits;
    };
  }

  HRESULT TryStart(IWinMLTokenConstraint* its, ComPtr<IWinMLTextGenerationPullStream>* stream,
                   IWinMLTextGenerationOptions* options = nullptr) {
    ComPtr<IWinMLTextGenerationConstraintSession> view;
    EXPECT_EQ(session.As(&view), S_OK);
    const UINT32 prompt[] = {1, 2};
    return view->GenerateTokensWithConstraint(2, prompt, its, options, nullptr, stream->ReleaseAndGetAddressOf());
  }

  Answer Constrained(UINT32 max_new_tokens) { return Constrained(Values(max_new_tokens)); }
  Answer Constrained(const WINML_TEXT_GENERATION_OPTIONS& values, const Tokens& stops = {}) {
    ComPtr<IWinMLTextGenerationPullStream> stream;
    EXPECT_EQ(TryStart(constraint.Get(), &stream, Options(values, stops).Get()), S_OK) << openwinml::LastErrorMessage();
    return stream ? ReadAll(stream.Get()) : Answer{};
  }

  ComPtr<StrangerConstraint> constraint;
};

TEST_F(ConstraintTest, TakesTheHighestAllowedTokenAndTellsTheConstraint) {
  Open();
  constraint->allows = [](const Tokens& accepted, UINT32 token) { return token <= 5 + accepted.size(); };
  const Answer answer = Constrained(3);
  EXPECT_THAT(answer.tokens, ElementsAre(5, 6, 7));
  EXPECT_EQ(answer.text, L"efg");
  EXPECT_EQ(constraint->accepted, answer.tokens);
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS);
}

TEST_F(ConstraintTest, EverySampleIsAllowed) {
  Open();
  constraint->allows = [](const Tokens&, UINT32 token) { return token == 3 || token == 7; };
  WINML_TEXT_GENERATION_OPTIONS values = Values(40);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE | WINML_TEXT_GENERATION_OPTION_FIELD_SEED;
  values.temperature = 50;
  values.seed = 1;
  const Answer answer = Constrained(values);
  EXPECT_THAT(answer.tokens, SizeIs(40));
  EXPECT_THAT(answer.tokens, Each(testing::AnyOf(3u, 7u)));
  EXPECT_THAT(answer.tokens, testing::Contains(3u));
  EXPECT_THAT(answer.tokens, testing::Contains(7u));
}

TEST_F(ConstraintTest, TopKCountsAllowedTokensOnly) {
  Open();
  constraint->allows = [](const Tokens&, UINT32 token) { return token <= 4; };
  WINML_TEXT_GENERATION_OPTIONS values = Values(5);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE | WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K;
  values.temperature = 10;
  values.topK = 1;
  EXPECT_THAT(Constrained(values).tokens, Each(4u)) << "penalties, constraint, temperature, top-k: in this order";
}

TEST_F(ConstraintTest, SeesLogitsAfterPenalties) {
  Open();
  WINML_TEXT_GENERATION_OPTIONS values = Values(2);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_PRESENCE_PENALTY;
  values.presencePenalty = 100;
  const Answer answer = Constrained(values);
  EXPECT_THAT(answer.tokens, ElementsAre(28, 27));
  EXPECT_EQ(constraint->last_candidates.at(28).logit, -72.0f);
}

TEST_F(ConstraintTest, AStopTokenEndsTheGenerationAndIsNotShown) {
  Open();
  constraint->allows = [](const Tokens& accepted, UINT32 token) { return token == 4 + accepted.size(); };
  constraint->stops = [](UINT32 token) { return token == 6; };
  const Answer answer = Constrained(20);
  EXPECT_THAT(answer.tokens, ElementsAre(4, 5));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN);
  EXPECT_THAT(constraint->accepted, ElementsAre(4, 5, 6)) << "the constraint has seen its end";
}

TEST_F(ConstraintTest, APreservedStopTokenBelongsToTheOutput) {
  Open();
  constraint->allows = [](const Tokens& accepted, UINT32 token) { return token == 4 + accepted.size(); };
  constraint->stops = [](UINT32 token) { return token == 6; };
  constraint->preserves_stops = true;
  const Answer answer = Constrained(20);
  EXPECT_THAT(answer.tokens, ElementsAre(4, 5, 6));
  EXPECT_EQ(answer.text, L"def");
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN);
}

TEST_F(ConstraintTest, ACompletedConstraintEndsTheGeneration) {
  Open();
  constraint->completes_after = 3;
  const Answer answer = Constrained(20);
  EXPECT_THAT(answer.tokens, SizeIs(3));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN);
}

TEST_F(ConstraintTest, AnEndTokenThatTheConstraintAllowsIsTheEnd) {
  Open();
  constraint->allows = [](const Tokens& accepted, UINT32 token) { return token == (accepted.size() < 2 ? 9u : kEnd); };
  constraint->stops = [](UINT32 token) { return token == kEnd; };
  const Answer answer = Constrained(20);
  EXPECT_THAT(answer.tokens, ElementsAre(9, 9));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN);
}

TEST_F(ConstraintTest, NoAllowedTokenIsTheConstraintsErrorAndAsksForAReset) {
  Open();
  constraint->allows = [](const Tokens& accepted, UINT32) { return accepted.size() < 2; };
  const Answer answer = Constrained(20);
  EXPECT_THAT(answer.tokens, SizeIs(2));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_ERROR);
  EXPECT_EQ(answer.error, kNoLegalToken);
  EXPECT_THAT(answer.sentence, HasSubstr("FilterCandidates"));
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_RESET_REQUIRED);
  EXPECT_EQ(session->Reset(), S_OK);
  constraint->Reset();
  constraint->allows = [](const Tokens&, UINT32) { return true; };
  EXPECT_THAT(Constrained(2).tokens, ElementsAre(28, 28));
}

TEST_F(ConstraintTest, OfAnotherVocabularyIsRefused) {
  Open();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  constraint->identity.sha256[31] ^= 1;
  EXPECT_EQ(TryStart(constraint.Get(), &stream), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("another vocabulary"));
  constraint->identity = StrangerVocabularyIdentity();
  constraint->identity.tokenCount = 777;
  EXPECT_EQ(TryStart(constraint.Get(), &stream), E_INVALIDARG);
  EXPECT_THAT(openwinml::LastErrorMessage(), testing::AllOf(HasSubstr("777"), HasSubstr("29")));
  EXPECT_EQ(stream, nullptr);
  EXPECT_THAT(model->runs, SizeIs(0)) << "before anything runs";
}

TEST_F(ConstraintTest, UsedUpOrPoisonedOnesAreRefused) {
  Open();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  constraint->status = WINML_TOKEN_CONSTRAINT_STATUS_COMPLETED;
  EXPECT_EQ(TryStart(constraint.Get(), &stream), E_NOT_VALID_STATE);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("completed"));
  constraint->status = WINML_TOKEN_CONSTRAINT_STATUS_POISONED;
  EXPECT_EQ(TryStart(constraint.Get(), &stream), E_NOT_VALID_STATE);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("poisoned"));
}

TEST_F(ConstraintTest, ItsFailuresAreThoseOfTheGeneration) {
  Open();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  constraint->identity_result = RPC_E_WRONG_THREAD;
  EXPECT_EQ(TryStart(constraint.Get(), &stream), RPC_E_WRONG_THREAD);
  constraint->identity_result = S_OK;
  constraint->accept_result = E_ABORT;
  EXPECT_EQ(Constrained(3).error, E_ABORT);
  EXPECT_EQ(session->Reset(), S_OK);
  constraint->accept_result = S_OK;
  constraint->poisoned_by_accept = true;
  EXPECT_THAT(Constrained(3).sentence, HasSubstr("poisoned"));
}

TEST_F(ConstraintTest, AnswersThatCannotBeRightAreErrors) {
  Open();
  constraint->keeps_too_many = true;
  EXPECT_EQ(Constrained(3).error, E_UNEXPECTED);
  constraint->keeps_too_many = false;
  constraint->keeps_strangers = true;
  EXPECT_EQ(session->Reset(), S_OK);
  const Answer answer = Constrained(3);
  EXPECT_EQ(answer.error, E_UNEXPECTED);
  EXPECT_THAT(answer.sentence, HasSubstr("4000"));
}

TEST_F(ConstraintTest, LogitsThatAreNoNumbersAreErrorsWhateverIsAllowed) {
  constraint->allows = [](const Tokens&, UINT32 token) { return token == 2; };
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Open();
    model->logits_of = [bad](const Tokens&) {
      std::vector<float> logits(kStrangerVocabulary, 0.0f);
      logits[5] = bad;
      return logits;
    };
    const Answer answer = Constrained(3);
    EXPECT_EQ(answer.error, kBadData);
    EXPECT_THAT(answer.sentence, HasSubstr("token 5"));
  }
}

TEST_F(ConstraintTest, TokensThatTheModelRulesOutAreNoCandidates) {
  model->logits_of = [](const Tokens&) {
    std::vector<float> logits(kStrangerVocabulary, -std::numeric_limits<float>::infinity());
    logits[3] = 1;
    logits[8] = 0;
    return logits;
  };
  Open();
  EXPECT_THAT(Constrained(1).tokens, ElementsAre(3));
  EXPECT_THAT(constraint->filtered, ElementsAre(2));
}

TEST_F(ConstraintTest, GreedyGenerationLetsTheSelectorPick) {
  ComPtr<StrangerSelector> selector;
  selector.Attach(new StrangerSelector);
  constraint = selector.Get();
  constraint->allows = [](const Tokens&, UINT32 token) { return token < 12; };
  Open();
  EXPECT_THAT(Constrained(2).tokens, ElementsAre(11, 11));
  EXPECT_EQ(selector->selections, 2);
  EXPECT_THAT(constraint->filtered, SizeIs(0));

  selector->selects = 99;
  EXPECT_EQ(Constrained(2).error, E_UNEXPECTED);
}

TEST_F(ConstraintTest, ContinuesARetainedSequence) {
  Open();
  Generate({1, 2}, 1);
  constraint->allows = [](const Tokens&, UINT32 token) { return token == 3; };
  ComPtr<IWinMLTextGenerationConstraintContinuation> view;
  ASSERT_EQ(session.As(&view), S_OK);
  const UINT32 suffix[] = {28, 7};
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(
      view->ContinueTokensWithConstraint(2, suffix, constraint.Get(), Options(2).Get(), nullptr, stream.GetAddressOf()),
      S_OK);
  const Answer answer = ReadAll(stream.Get());
  EXPECT_THAT(answer.tokens, ElementsAre(3, 3));
  EXPECT_EQ(answer.prompt_tokens, 4u);
  EXPECT_THAT(model->sequence, ElementsAre(1, 2, 28, 7, 3));
  ASSERT_EQ(session->Reset(), S_OK);
  EXPECT_EQ(view->ContinueTokensWithConstraint(2, suffix, constraint.Get(), nullptr, nullptr,
                                               stream.ReleaseAndGetAddressOf()),
            E_NOT_VALID_STATE);
}

TEST_F(ConstraintTest, GoesWithSegmentsOfTokens) {
  Open();
  constraint->allows = [](const Tokens&, UINT32 token) { return token == 3; };
  ComPtr<IWinMLTextGenerationConstraintSession> view;
  ASSERT_EQ(session.As(&view), S_OK);
  const UINT32 ids[] = {5, 6, 7};
  const WINML_GENERATION_SEGMENT segments[] = {{WINML_GENERATION_SEGMENT_KIND_TOKENS, 2, ids, nullptr, nullptr},
                                               {WINML_GENERATION_SEGMENT_KIND_TOKENS, 1, ids + 2, nullptr, nullptr}};
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(view->GenerateSegmentsWithConstraint(2, segments, constraint.Get(), Options(1).Get(), nullptr,
                                                 stream.GetAddressOf()),
            S_OK);
  EXPECT_THAT(ReadAll(stream.Get()).tokens, ElementsAre(3));
  EXPECT_THAT(model->sequence, ElementsAre(5, 6, 7));
}

TEST_F(ConstraintTest, CapabilitiesSayWhatTheTokenizerAndThePipelineAllow) {
  Open();
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_TRUE(capabilities.supportsConstraints);
  EXPECT_TRUE(capabilities.supportsConstrainedContinuation);
  EXPECT_FALSE(capabilities.supportsConstrainedEmbeddingSegments);

  tokenizer.Attach(new StrangerTokenizer);
  task.Reset();
  Open();
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_FALSE(capabilities.supportsConstraints);
  ComPtr<IWinMLTextGenerationPullStream> stream;
  EXPECT_EQ(TryStart(constraint.Get(), &stream), kNotSupported);
}

TEST_F(ConstraintTest, PipelinesThatSampleTakeNone) {
  model->samples = true;
  session.Reset();
  configuration = Unified();
  ASSERT_EQ(configuration->SetOutput(kUnified, model.Get(), 0, kSampled), S_OK);
  task = NewTask(tokenizer.Get());
  ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK);
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  ASSERT_EQ(session->GetCapabilities(&capabilities), S_OK);
  EXPECT_FALSE(capabilities.supportsConstraints);
  ComPtr<IWinMLTextGenerationPullStream> stream;
  EXPECT_EQ(TryStart(constraint.Get(), &stream), kNotSupported);
}

TEST_F(ConstraintTest, IsReleasedWithItsStream) {
  Open();
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(TryStart(constraint.Get(), &stream), S_OK);
  EXPECT_EQ(constraint->references(), 2u);
  stream.Reset();
  EXPECT_EQ(constraint->references(), 1u);
}

TEST_F(ConstraintTest, ANullOneIsRefusedOnEveryPath) {
  Open();
  ComPtr<IWinMLTextGenerationConstraintSession> view;
  ComPtr<IWinMLTextGenerationConstraintContinuation> continuation;
  ASSERT_EQ(session.As(&view), S_OK);
  ASSERT_EQ(session.As(&continuation), S_OK);
  const UINT32 token = 1;
  const WINML_GENERATION_SEGMENT segment = {WINML_GENERATION_SEGMENT_KIND_TOKENS, 1, &token, nullptr, nullptr};
  ComPtr<IWinMLTextGenerationPullStream> stream;
  EXPECT_EQ(view->GenerateTokensWithConstraint(1, &token, nullptr, nullptr, nullptr, stream.GetAddressOf()), E_POINTER);
  EXPECT_EQ(view->GenerateSegmentsWithConstraint(1, &segment, nullptr, nullptr, nullptr, stream.GetAddressOf()),
            E_POINTER);
  EXPECT_EQ(continuation->ContinueTokensWithConstraint(1, &token, nullptr, nullptr, nullptr, stream.GetAddressOf()),
            E_POINTER);
}

}  // namespace
}  // namespace owml::test
