// What a session retains, and going on from there.
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ContinuationTest : public TextGenerationTest {
 protected:
  HRESULT TryContinue(const Tokens& suffix) {
    ComPtr<IWinMLTextGenerationPullStream> stream;
    return session->ContinueTokens(static_cast<UINT32>(suffix.size()), suffix.data(), Options(1).Get(), nullptr,
                                   stream.GetAddressOf());
  }
};

TEST_F(ContinuationTest, RetainsWhatTheModelHasConsumed) {
  model->logits_of = Saying({5, 6, kEnd}, 2);
  Open();
  EXPECT_EQ(Retained(), Tokens{});
  Generate({1, 2}, 10);
  EXPECT_EQ(Retained(), (Tokens{1, 2, 5, 6})) << "the end token was not fed";
  const auto state = SequenceState();
  EXPECT_EQ(state.disclosure, WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_RETAINED);
  EXPECT_EQ(state.sessionState, WINML_TEXT_GENERATION_SESSION_STATE_READY);
  EXPECT_EQ(state.evaluatedTokenCount, 4u);
  EXPECT_EQ(state.retainedTokenCount, 4u);
  Generate({1, 2}, 2);
  EXPECT_EQ(Retained(), (Tokens{1, 2, 5})) << "the last token before a limit is not fed";
}

TEST_F(ContinuationTest, AContinuedSequenceIsTheSameAsOneGivenWhole) {
  Open();
  const Answer first = Generate({3, 1}, 4);
  Tokens whole = {3, 1};
  whole.insert(whole.end(), first.tokens.begin(), first.tokens.end());
  whole.insert(whole.end(), {7, 8});
  const size_t runs = model->runs.size();
  const Answer second = Continue({first.tokens.back(), 7, 8}, 5);
  EXPECT_EQ(second.tokens, Expected(whole, 5));
  EXPECT_EQ(second.prompt_tokens, whole.size());
  EXPECT_EQ(model->runs[runs], (Tokens{first.tokens.back(), 7, 8})) << "only the suffix was evaluated";
}

TEST_F(ContinuationTest, PenaltiesOfAContinuationSeeTheRetainedTokens) {
  model->logits_of = [](const Tokens&) {
    std::vector<float> logits(kStrangerVocabulary, 0.5f);
    logits[2] = 1;
    return logits;
  };
  Open();
  Generate({2, 9}, 1);
  WINML_TEXT_GENERATION_OPTIONS values = Values(1);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY;
  values.repetitionPenalty = 4;
  const UINT32 suffix = 8;
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(session->ContinueTokens(1, &suffix, Options(values, {0}).Get(), nullptr, stream.GetAddressOf()), S_OK);
  EXPECT_EQ(ReadAll(stream.Get()).tokens, Tokens{}) << "2 was seen before, so 0 is highest, which ends";
}

TEST_F(ContinuationTest, NothingRetainedCannotBeContinued) {
  Open();
  EXPECT_EQ(TryContinue({1}), E_NOT_VALID_STATE);
  Generate({1, 2}, 2);
  EXPECT_EQ(session->Reset(), S_OK);
  EXPECT_EQ(Retained(), Tokens{});
  EXPECT_EQ(TryContinue({1}), E_NOT_VALID_STATE);
}

TEST_F(ContinuationTest, AnEmptySuffixIsRefused) {
  Open();
  Generate({1, 2}, 2);
  EXPECT_EQ(TryContinue({}), E_INVALIDARG);
}

TEST_F(ContinuationTest, ASuffixBeyondTheCapacityChangesNothing) {
  model->capacity = 8;
  Open();
  Generate({1, 2, 3}, 3);
  EXPECT_EQ(TryContinue({1, 2, 3, 4}), kTooLong);
  EXPECT_THAT(openwinml::LastErrorMessage(),
              AllOf(HasSubstr("5 retained tokens and 4 more"), HasSubstr("capacity of 8")));
  EXPECT_EQ(Retained().size(), 5u);
  EXPECT_EQ(TryContinue({1, 2}), S_OK);
}

TEST_F(ContinuationTest, FollowsARewindOfTheStage) {
  Open();
  Generate({1, 2, 3, 4}, 3);
  ASSERT_EQ(model->RewindTo(3), S_OK);
  EXPECT_EQ(Retained(), (Tokens{1, 2, 3}));
  EXPECT_EQ(Continue({9}, 4).tokens, Expected({1, 2, 3, 9}, 4));
  ASSERT_EQ(model->RewindTo(0), S_OK);
  EXPECT_EQ(SequenceState().disclosure, WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_NONE);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
}

TEST_F(ContinuationTest, ASequenceThatSomebodyElseLengthenedIsNotContinued) {
  Open();
  Generate({1, 2}, 2);
  model->sequence.push_back(9);
  EXPECT_EQ(Retained(), Tokens{});
  EXPECT_EQ(TryContinue({1}), E_NOT_VALID_STATE);
  EXPECT_EQ(Generate({1, 2}, 2).tokens, Expected({1, 2}, 2)) << "a new sequence works";
}

TEST_F(ContinuationTest, AnotherSessionOverThePipelineBeginsEmpty) {
  Open();
  Generate({1, 2}, 4);
  session->Close();
  Open();
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_EMPTY);
  EXPECT_EQ(Retained(), Tokens{});
  EXPECT_EQ(Generate({1, 2}, 4).tokens, Expected({1, 2}, 4));
}

}  // namespace
}  // namespace owml::test
