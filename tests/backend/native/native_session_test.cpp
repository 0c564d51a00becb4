// Sessions on a tiny random model: what a run appends and answers, and what a refusal leaves behind.
#include "backend/native/native_session.h"

#include <gmock/gmock.h>

#include "backend/native/native_fixture.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

const std::vector<int32_t> kPrompt = {1, 75, 104, 111, 111, 114, 35, 90, 114, 117, 111, 103};
const std::vector<int32_t> kDraft = {35, 90, 114, 117};

class NativeSessionTest : public testing::Test {
 protected:
  void SetUp() override { model_ = LoadNative(folder_.Write("tiny.gguf", TinyLlama().Bytes())); }
  std::unique_ptr<BackendSession> Session(const SessionOptions& options = {}) const {
    return SessionOn(*model_, options);
  }
  std::unique_ptr<BackendSession> Prompted(uint32_t draft_limit) const {
    SessionOptions options;
    options.draft_token_limit = draft_limit;
    auto session = Session(options);
    RunTokens(*session, kPrompt);
    return session;
  }

  TemporaryFolder folder_;
  std::shared_ptr<const BackendModel> model_;
};

TEST_F(NativeSessionTest, SchemaIsInt32TokensToFloatLogitsOfTheLastPosition) {
  const auto session = Session();
  ASSERT_EQ(session->schema().inputs.size(), 1u);
  ASSERT_EQ(session->schema().outputs.size(), 1u);
  EXPECT_EQ(session->schema().inputs[0].dtype, DType::kInt32);
  EXPECT_EQ(session->schema().inputs[0].dims, (Dims{1, kFreeDimension}));
  EXPECT_EQ(session->schema().outputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(session->schema().outputs[0].dims, (Dims{1, 1, kTinyVocabulary}));
  EXPECT_EQ(model_->declared_schema(), nullptr);
}

TEST_F(NativeSessionTest, ConsecutiveRunsAppend) {
  const auto session = Session();
  EXPECT_EQ(RunInChunks(*session, kPrompt, 5), RunTokens(*Session(), kPrompt));
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
}

TEST_F(NativeSessionTest, ABoundDestinationReceivesTheLogits) {
  const auto session = Session();
  std::vector<int32_t> tokens = kPrompt;
  std::vector<float> logits(kTinyVocabulary);
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  output.wanted = true;
  output.destination = TensorView{DType::kFloat32,
                                  {1, 1, kTinyVocabulary},
                                  reinterpret_cast<std::byte*>(logits.data()),
                                  logits.size() * sizeof(float)};
  session->Run({&input, 1}, {&output, 1});
  EXPECT_EQ(logits, RunTokens(*Session(), kPrompt));
  EXPECT_EQ(output.produced.view.data, nullptr);
}

TEST_F(NativeSessionTest, ADestinationOfAnotherShapeIsRefusedBeforeAnythingRuns) {
  const auto session = Session();
  std::vector<int32_t> tokens = kPrompt;
  std::vector<float> logits(3);
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  output.wanted = true;
  output.destination =
      TensorView{DType::kFloat32, {1, 1, 3}, reinterpret_cast<std::byte*>(logits.data()), 3 * sizeof(float)};
  EXPECT_EQ(FailureOf([&] { session->Run({&input, 1}, {&output, 1}); }).code, E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), 0u);
}

TEST_F(NativeSessionTest, ARunWithoutWantedLogitsAppendsAllTheSame) {
  const auto session = Session();
  std::vector<int32_t> tokens = kPrompt;
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  session->Run({&input, 1}, {&output, 1});
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
  const auto whole = Session();
  RunTokens(*whole, kPrompt);
  EXPECT_EQ(RunTokens(*session, {66}), RunTokens(*whole, {66}));
}

TEST_F(NativeSessionTest, LogitsOfAnEarlierRunStayWithWhoeverHoldsThem) {
  const auto session = Session();
  std::vector<int32_t> tokens = kPrompt;
  const InputValue input{true, TokenView(tokens)};
  OutputValue output;
  output.wanted = true;
  session->Run({&input, 1}, {&output, 1});
  const auto* held = reinterpret_cast<const float*>(output.produced.view.data);
  const std::vector<float> before(held, held + kTinyVocabulary);
  RunTokens(*session, {99});
  EXPECT_EQ(std::vector<float>(held, held + kTinyVocabulary), before);
}

TEST_F(NativeSessionTest, IdsOutsideTheVocabularyAndMissingTokensAreRefused) {
  const auto session = Session();
  RunTokens(*session, {1, 2});
  for (const int32_t id : {-1, static_cast<int32_t>(kTinyVocabulary), INT32_MAX, INT32_MIN}) {
    const Failure failure = FailureOf([&] { RunTokens(*session, {3, id}); });
    EXPECT_EQ(failure.code, E_INVALIDARG);
    EXPECT_THAT(failure.sentence, HasSubstr(std::to_string(id)));
  }
  EXPECT_EQ(FailureOf([&] { RunTokens(*session, {}); }).code, E_INVALIDARG);
  const InputValue unbound;
  OutputValue output;
  EXPECT_EQ(FailureOf([&] { session->Run({&unbound, 1}, {&output, 1}); }).code, E_INVALIDARG);
  std::vector<int64_t> wide = {1, 2};
  const InputValue wrong{true, {DType::kInt64, {1, 2}, reinterpret_cast<std::byte*>(wide.data()), 16}};
  EXPECT_THAT(FailureOf([&] { session->Run({&wrong, 1}, {&output, 1}); }).sentence, HasSubstr("int64"));
  EXPECT_EQ(session->sequence_state()->position(), 2u);
}

TEST_F(NativeSessionTest, ResetAndRewindContinueAsIfTheRestHadNeverBeen) {
  const auto session = Session();
  const auto expected = RunTokens(*session, kPrompt);
  session->Reset();
  EXPECT_EQ(session->sequence_state()->position(), 0u);
  EXPECT_EQ(RunTokens(*session, kPrompt), expected);
  session->sequence_state()->RewindTo(4);
  EXPECT_EQ(RunTokens(*session, {kPrompt.begin() + 4, kPrompt.end()}), expected);
  session->sequence_state()->RewindTo(kPrompt.size());
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
}

TEST_F(NativeSessionTest, RewindingForwardIsRefusedAndThePositionStays) {
  const auto session = Session();
  RunTokens(*session, kPrompt);
  for (const uint64_t position : {kPrompt.size() + 1, size_t{SIZE_MAX}}) {
    EXPECT_EQ(FailureOf([&] { session->sequence_state()->RewindTo(position); }).code, E_INVALIDARG);
  }
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
}

TEST_F(NativeSessionTest, TheCapacityAskedForIsTheCapacityKept) {
  SessionOptions options;
  options.sequence_capacity_hint = 10;
  const auto session = Session(options);
  SequenceState& state = *session->sequence_state();
  EXPECT_EQ(state.capacity(), 10u);
  RunTokens(*session, {1, 2, 3, 4, 5, 6, 7, 8});
  const Failure failure = FailureOf([&] { RunTokens(*session, {9, 10, 11}); });
  EXPECT_EQ(failure.code, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  EXPECT_THAT(failure.sentence, HasSubstr("3 tokens at position 8"));
  EXPECT_THAT(failure.sentence, HasSubstr("capacity of 10"));
  EXPECT_EQ(state.position(), 8u);
  RunTokens(*session, {9, 10});
  EXPECT_EQ(FailureOf([&] { RunTokens(*session, {11}); }).code, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
}

TEST_F(NativeSessionTest, CapacityDefaultsToWhatTheArtifactDeclaresUpTo8192) {
  EXPECT_EQ(Session()->sequence_state()->capacity(), 256u);
  EXPECT_EQ(Session()->sequence_state()->declared_capacity(), 256u);
  TinyLlamaShape shape;
  shape.context = 100000;
  const auto model = LoadNative(folder_.Write("long.gguf", TinyLlama(shape).Bytes()));
  EXPECT_EQ(SessionOn(*model)->sequence_state()->capacity(), 8192u);
  EXPECT_EQ(SessionOn(*model)->sequence_state()->declared_capacity(), 100000u);
}

TEST_F(NativeSessionTest, CapacityAboveTheDeclaredWindowIsAllowed) {
  SessionOptions options;
  options.sequence_capacity_hint = 1000;
  const auto session = Session(options);
  RunTokens(*session, std::vector<int32_t>(1000, 65));
  EXPECT_EQ(session->sequence_state()->position(), 1000u);
}

TEST_F(NativeSessionTest, ChangingTheCapacityResetsTheSequence) {
  const auto session = Session();
  SequenceState& state = *session->sequence_state();
  const auto expected = RunTokens(*session, kPrompt);
  state.SetCapacity(kPrompt.size());
  EXPECT_EQ(state.position(), 0u);
  EXPECT_EQ(state.capacity(), kPrompt.size());
  EXPECT_EQ(RunTokens(*session, kPrompt), expected);
  EXPECT_EQ(FailureOf([&] { RunTokens(*session, {1}); }).code, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
}

TEST_F(NativeSessionTest, AnImpossibleCapacityIsRefusedAndTheSequenceStays) {
  const auto session = Session();
  RunTokens(*session, kPrompt);
  for (const uint64_t capacity : {uint64_t{0}, uint64_t{1} << 31, UINT64_MAX}) {
    EXPECT_EQ(FailureOf([&] { session->sequence_state()->SetCapacity(capacity); }).code, E_INVALIDARG);
  }
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
  EXPECT_EQ(session->sequence_state()->capacity(), 256u);
}

TEST_F(NativeSessionTest, SessionsOfOneModelDoNotShareTheirSequenceAndOutliveIt) {
  const auto a = Session();
  const auto b = Session();
  model_.reset();
  RunTokens(*a, kPrompt);
  EXPECT_EQ(b->sequence_state()->position(), 0u);
  EXPECT_EQ(RunInChunks(*b, kPrompt, 3), [&] {
    a->Reset();
    return RunTokens(*a, kPrompt);
  }());
}

TEST_F(NativeSessionTest, RowsOfAStepEqualSingleStepsBitForBit) {
  const auto single = Prompted(0);
  const auto session = Prompted(16);
  std::vector<float> rows(kDraft.size() * kTinyVocabulary);
  session->speculative_steps()->StepAllPositions(kDraft, rows);
  for (size_t i = 0; i < kDraft.size(); ++i) {
    const auto row = std::span(rows).subspan(i * kTinyVocabulary, kTinyVocabulary);
    EXPECT_EQ(std::vector<float>(row.begin(), row.end()), RunTokens(*single, {kDraft[i]}));
  }
}

TEST_F(NativeSessionTest, EveryAcceptedPrefixLeavesTheSequenceOfThatPrefix) {
  for (uint32_t accepted = 0; accepted <= kDraft.size(); ++accepted) {
    const auto session = Prompted(16);
    const auto plain = Prompted(0);
    std::vector<float> rows(kDraft.size() * kTinyVocabulary);
    session->speculative_steps()->StepAllPositions(kDraft, rows);
    session->speculative_steps()->CommitAcceptedPrefix(accepted);
    EXPECT_EQ(session->sequence_state()->position(), kPrompt.size() + accepted);
    if (accepted) RunTokens(*plain, {kDraft.begin(), kDraft.begin() + accepted});
    EXPECT_EQ(RunTokens(*session, {99}), RunTokens(*plain, {99}));
  }
}

TEST_F(NativeSessionTest, OnlyOneCommitBelongsToAStepAndEveryOtherChangeEndsIt) {
  const std::vector<void (*)(BackendSession&)> enders = {
      [](BackendSession& session) { session.speculative_steps()->CommitAcceptedPrefix(2); },
      [](BackendSession& session) { RunTokens(session, {65}); },
      [](BackendSession& session) { session.sequence_state()->RewindTo(session.sequence_state()->position()); },
      [](BackendSession& session) { session.Reset(); },
      [](BackendSession& session) { session.sequence_state()->SetCapacity(200); },
  };
  for (const auto ender : enders) {
    const auto session = Prompted(4);
    SpeculativeSteps& steps = *session->speculative_steps();
    EXPECT_EQ(FailureOf([&] { steps.CommitAcceptedPrefix(0); }).code, E_NOT_VALID_STATE);
    std::vector<float> rows(kDraft.size() * kTinyVocabulary);
    steps.StepAllPositions(kDraft, rows);
    EXPECT_EQ(FailureOf([&] { steps.CommitAcceptedPrefix(5); }).code, E_INVALIDARG);
    ender(*session);
    EXPECT_EQ(FailureOf([&] { steps.CommitAcceptedPrefix(1); }).code, E_NOT_VALID_STATE);
  }
}

TEST_F(NativeSessionTest, ARefusedStepLeavesThePosition) {
  SessionOptions options;
  options.sequence_capacity_hint = kPrompt.size() + 3;
  const auto session = Session(options);
  RunTokens(*session, kPrompt);
  SpeculativeSteps& steps = *session->speculative_steps();
  std::vector<float> rows(20 * kTinyVocabulary);
  const auto code = [&](const std::vector<int32_t>& tokens, size_t floats) {
    return FailureOf([&] { steps.StepAllPositions(tokens, std::span(rows).first(floats)); }).code;
  };
  EXPECT_EQ(code(kDraft, rows.size()), HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  EXPECT_EQ(code({65, 66}, 2 * kTinyVocabulary - 1), HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  EXPECT_EQ(code({65, 259}, rows.size()), E_INVALIDARG);
  EXPECT_EQ(code({}, rows.size()), E_INVALIDARG);
  EXPECT_EQ(code(std::vector<int32_t>(18, 65), rows.size()), E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
}

TEST_F(NativeSessionTest, LimitsFollowTheDraftTokenLimitUpTo16) {
  EXPECT_EQ(Prompted(4)->speculative_steps()->limits().max_step_width, 5u);
  EXPECT_EQ(Prompted(100)->speculative_steps()->limits().max_step_width, 17u);
  EXPECT_EQ(Prompted(0)->speculative_steps()->limits().max_step_width, 17u);
  EXPECT_EQ(Prompted(4)->speculative_steps()->limits().rollback_bound, 2);  // unbounded
  EXPECT_EQ(Prompted(4)->speculative_steps()->limits().residency, 1);       // host
  EXPECT_EQ(Prompted(4)->speculative_steps()->row_stride(), kTinyVocabulary);
}

TEST_F(NativeSessionTest, WithoutAPredictorThereAreNoProposals) {
  const auto session = Session();
  EXPECT_EQ(session->speculative_steps()->limits().max_draft_tokens, 0u);
  std::vector<int32_t> tokens(4);
  EXPECT_EQ(FailureOf([&] { session->speculative_steps()->ProposeDraftTokens(1, tokens); }).code,
            HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
}

TEST_F(NativeSessionTest, ReportNamesEngineInstructionSetAndThreads) {
  for (const kernels::Isa isa : kernels::UsableIsas()) {
    const ForcedIsa forced(isa);
    const SessionReport report = Session()->report();
    EXPECT_EQ(report.engine, "OpenWinML native (" + std::string(kernels::Name(isa)) + ")");
    EXPECT_FALSE(report.engine_reason.empty());
    EXPECT_EQ(report.engine_kind, Engine::kNative);
    EXPECT_EQ(report.device, DeviceKind::kCpu);
    EXPECT_EQ(report.kv_cache_type, KvCacheType::kF16);
    EXPECT_EQ(report.intra_op_threads, 1u);
  }
}

}  // namespace
}  // namespace owml::test
