// Steps over several tokens at once, and keeping a part of them.
// Every engine that runs GGUF models must answer so; each is one parameter.
#include <gmock/gmock.h>

#include "backend/gguf/gguf_session_fixture.h"

namespace owml::test {
namespace {

const std::vector<int32_t> kDraft = {35, 90, 114, 117};

class GgufSpeculativeTest : public GgufSessionTest {
 protected:
  // With and without a limit hint the results must agree; the hint only makes it quicker.
  std::unique_ptr<BackendSession> Prompted(uint32_t draft_limit) const {
    SessionOptions options;
    options.draft_token_limit = draft_limit;
    auto session = Session(options);
    RunTokens(*session, kPrompt);
    return session;
  }
};

TEST_P(GgufSpeculativeTest, RowsEqualSingleSteps) {
  for (const uint32_t limit : {0u, 4u, 16u}) {
    const auto single = Prompted(0);
    const auto session = Prompted(limit);
    std::vector<float> rows(kDraft.size() * kTinyVocabulary);
    session->speculative_steps()->StepAllPositions(kDraft, rows);
    EXPECT_EQ(session->sequence_state()->position(), kPrompt.size() + kDraft.size());
    for (size_t i = 0; i < kDraft.size(); ++i) {
      ExpectSame(std::span(rows).subspan(i * kTinyVocabulary, kTinyVocabulary), RunTokens(*single, {kDraft[i]}));
    }
  }
}

TEST_P(GgufSpeculativeTest, EveryAcceptedPrefixLeavesTheSequenceOfThatPrefix) {
  for (uint32_t accepted = 0; accepted <= kDraft.size(); ++accepted) {
    const auto session = Prompted(16);
    const auto plain = Prompted(0);
    std::vector<float> rows(kDraft.size() * kTinyVocabulary);
    session->speculative_steps()->StepAllPositions(kDraft, rows);
    session->speculative_steps()->CommitAcceptedPrefix(accepted);
    EXPECT_EQ(session->sequence_state()->position(), kPrompt.size() + accepted);
    if (accepted) RunTokens(*plain, {kDraft.begin(), kDraft.begin() + accepted});
    ExpectSame(RunTokens(*session, {99}), RunTokens(*plain, {99}));
  }
}

TEST_P(GgufSpeculativeTest, OnlyOneCommitBelongsToAStep) {
  const auto session = Prompted(4);
  SpeculativeSteps& steps = *session->speculative_steps();
  EXPECT_EQ(FailureOf([&] { steps.CommitAcceptedPrefix(0); }).code, E_NOT_VALID_STATE);
  std::vector<float> rows(kDraft.size() * kTinyVocabulary);
  steps.StepAllPositions(kDraft, rows);
  EXPECT_EQ(FailureOf([&] { steps.CommitAcceptedPrefix(5); }).code, E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size() + kDraft.size());
  steps.CommitAcceptedPrefix(2);
  EXPECT_EQ(FailureOf([&] { steps.CommitAcceptedPrefix(2); }).code, E_NOT_VALID_STATE);
}

TEST_P(GgufSpeculativeTest, ARunARewindAResetAndANewCapacityEndThePendingStep) {
  const std::vector<void (*)(BackendSession&)> enders = {
      [](BackendSession& session) { RunTokens(session, {65}); },
      [](BackendSession& session) { session.sequence_state()->RewindTo(session.sequence_state()->position()); },
      [](BackendSession& session) { session.Reset(); },
      [](BackendSession& session) { session.sequence_state()->SetCapacity(200); },
  };
  for (const auto ender : enders) {
    const auto session = Prompted(4);
    std::vector<float> rows(kDraft.size() * kTinyVocabulary);
    session->speculative_steps()->StepAllPositions(kDraft, rows);
    ender(*session);
    EXPECT_EQ(FailureOf([&] { session->speculative_steps()->CommitAcceptedPrefix(1); }).code, E_NOT_VALID_STATE);
  }
}

TEST_P(GgufSpeculativeTest, ARefusedStepLeavesThePosition) {
  SessionOptions options;
  options.sequence_capacity_hint = kPrompt.size() + 3;
  const auto session = Session(options);
  RunTokens(*session, kPrompt);
  SpeculativeSteps& steps = *session->speculative_steps();
  std::vector<float> rows(20 * kTinyVocabulary);
  EXPECT_EQ(FailureOf([&] { steps.StepAllPositions(kDraft, rows); }).code,
            HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  EXPECT_EQ(FailureOf([&] {
              steps.StepAllPositions(std::vector<int32_t>{65, 66}, std::span(rows).first(2 * kTinyVocabulary - 1));
            }).code,
            HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  EXPECT_EQ(FailureOf([&] { steps.StepAllPositions(std::vector<int32_t>{65, 259}, rows); }).code, E_INVALIDARG);
  EXPECT_EQ(FailureOf([&] { steps.StepAllPositions({}, rows); }).code, E_INVALIDARG);
  EXPECT_EQ(FailureOf([&] { steps.StepAllPositions(std::vector<int32_t>(18, 65), rows); }).code, E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
}

TEST_P(GgufSpeculativeTest, LimitsFollowTheDraftTokenLimitUpTo16) {
  EXPECT_EQ(Prompted(4)->speculative_steps()->limits().max_step_width, 5u);
  EXPECT_EQ(Prompted(4)->speculative_steps()->limits().max_logit_rows, 5u);
  EXPECT_EQ(Prompted(100)->speculative_steps()->limits().max_step_width, 17u);
  EXPECT_EQ(Prompted(0)->speculative_steps()->limits().max_step_width, 17u);
  EXPECT_EQ(Prompted(4)->speculative_steps()->limits().rollback_bound, 2);  // unbounded
  EXPECT_EQ(Prompted(4)->speculative_steps()->limits().residency, 1);       // host
  EXPECT_EQ(Prompted(4)->speculative_steps()->row_stride(), kTinyVocabulary);
}

TEST_P(GgufSpeculativeTest, WithoutAPredictorThereAreNoProposals) {
  SessionOptions options;
  options.draft_token_limit = 4;
  options.draft_predictor_enabled = true;  // the model has none; that is no error
  const auto session = Session(options);
  EXPECT_EQ(session->speculative_steps()->limits().max_draft_tokens, 0u);
  std::vector<int32_t> tokens(4);
  EXPECT_EQ(FailureOf([&] { session->speculative_steps()->ProposeDraftTokens(1, tokens); }).code,
            HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
}

INSTANTIATE_TEST_SUITE_P(Engines, GgufSpeculativeTest, testing::ValuesIn(kGgufEngines), EngineName);

}  // namespace
}  // namespace owml::test
