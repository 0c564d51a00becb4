// Sequence position, capacity and multi-token steps of a stage.
// Mirrors src/runtime/stage_state.cpp.
#include "runtime/stage_state.h"

#include "runtime_test_support.h"

namespace owml::test {
namespace {

class StageState : public PipelineTest {
 protected:
  StageState() {
    script_->stateful = true;
    script_->step_width = 4;
    stage_ = AddModel(script_, L"lm");
    state_ = Query<IWinMLStatefulStage>(stage_.Get());
  }

  UINT64 Position() {
    UINT64 position = 999;
    EXPECT_EQ(S_OK, state_->GetSequencePosition(&position));
    return position;
  }

  // Tokens 1, 2, ... into rows of four.
  HRESULT Step(UINT32 tokens, UINT64 capacity = 16) {
    return state_->StepAllPositions(tokens_, tokens, logits_, capacity, &rows_, &stride_);
  }
  HRESULT Commit(UINT32 count) {
    UINT64 position = 0;
    return state_->CommitAcceptedPrefix(count, &position);
  }

  std::shared_ptr<FakeScript> script_ = Elementwise({kFreeDimension}, Twice);
  ComPtr<IWinMLStage> stage_;
  ComPtr<IWinMLStatefulStage> state_;
  INT32 tokens_[5] = {1, 2, 3, 4, 5};
  FLOAT logits_[16] = {};
  UINT32 rows_ = 0;
  UINT32 stride_ = 0;
};

// Every method's answer to honest arguments.
std::vector<HRESULT> CallAll(IWinMLStatefulStage* state) {
  UINT64 value = 0;
  UINT32 rows = 0, stride = 0, count = 0;
  INT32 tokens[1] = {1};
  FLOAT logits[4] = {};
  WINML_SEQUENCE_CAPACITY_DISCLOSURE disclosure{};
  WINML_SPECULATIVE_CAPABILITIES capabilities{};
  return {state->GetSequenceCapacity(&value),
          state->GetDeclaredSequenceCapacity(&disclosure, &value),
          state->GetSequencePosition(&value),
          state->RewindTo(0),
          state->SetSequenceCapacity(8),
          state->GetSpeculativeCapabilities(&capabilities),
          state->StepAllPositions(tokens, 1, logits, 4, &rows, &stride),
          state->CommitAcceptedPrefix(0, &value),
          state->ProposeDraftTokens(1, 1, tokens, &count)};
}

TEST_F(StageState, EverythingIsRefusedBeforeBuild) {
  EXPECT_EQ(std::vector<HRESULT>(9, E_NOT_VALID_STATE), CallAll(state_.Get()));
}

TEST_F(StageState, StagesWithoutStateRefuseEverything) {
  const auto plain = Elementwise({2}, Twice);
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  const ComPtr<IWinMLStage> model = AddModel(plain);
  const ComPtr<IWinMLStage> other = AddProcessor(processor);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(std::vector<HRESULT>(9, kNotSupported), CallAll(Query<IWinMLStatefulStage>(model.Get()).Get()));
  EXPECT_EQ(std::vector<HRESULT>(9, kNotSupported), CallAll(Query<IWinMLStatefulStage>(other.Get()).Get()));
}

TEST_F(StageState, AStageWithoutStepsStillHasItsPosition) {
  script_->step_width = 0;
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(0u, Position());
  EXPECT_EQ(kNotSupported, Step(1));
  EXPECT_EQ(kNotSupported, Commit(0));
  WINML_SPECULATIVE_CAPABILITIES capabilities{};
  EXPECT_EQ(kNotSupported, state_->GetSpeculativeCapabilities(&capabilities));
}

TEST_F(StageState, NullPointersAreRefusedInAnyState) {
  const auto expect_refusals = [&] {
    UINT64 value = 0;
    UINT32 count = 0;
    WINML_SEQUENCE_CAPACITY_DISCLOSURE disclosure{};
    EXPECT_EQ(E_POINTER, state_->GetSequenceCapacity(nullptr));
    EXPECT_EQ(E_POINTER, state_->GetDeclaredSequenceCapacity(nullptr, &value));
    EXPECT_EQ(E_POINTER, state_->GetDeclaredSequenceCapacity(&disclosure, nullptr));
    EXPECT_EQ(E_POINTER, state_->GetSequencePosition(nullptr));
    EXPECT_EQ(E_POINTER, state_->GetSpeculativeCapabilities(nullptr));
    EXPECT_EQ(E_POINTER, state_->StepAllPositions(tokens_, 1, logits_, 16, nullptr, &stride_));
    EXPECT_EQ(E_POINTER, state_->StepAllPositions(tokens_, 1, logits_, 16, &rows_, nullptr));
    EXPECT_EQ(E_POINTER, state_->StepAllPositions(nullptr, 1, logits_, 16, &rows_, &stride_));
    EXPECT_EQ(E_POINTER, state_->StepAllPositions(tokens_, 1, nullptr, 16, &rows_, &stride_));
    EXPECT_EQ(E_POINTER, state_->CommitAcceptedPrefix(0, nullptr));
    EXPECT_EQ(E_POINTER, state_->ProposeDraftTokens(1, 1, tokens_, nullptr));
    EXPECT_EQ(E_POINTER, state_->ProposeDraftTokens(1, 1, nullptr, &count));
  };
  expect_refusals();
  const ComPtr<IWinMLPipeline> pipeline = Build();
  expect_refusals();
}

TEST_F(StageState, RunsMoveThePositionAndAResetTakesItBack) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, stage_->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  EXPECT_EQ(0u, Position());
  ASSERT_EQ(S_OK, pipeline->Run());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(6u, Position());
  ASSERT_EQ(S_OK, pipeline->ResetExecutionState());
  EXPECT_EQ(0u, Position());
}

TEST_F(StageState, ARewindIsRefusedOrDone) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, stage_->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(E_INVALIDARG, state_->RewindTo(4));
  EXPECT_EQ(3u, Position());
  EXPECT_EQ(S_OK, state_->RewindTo(1));
  EXPECT_EQ(1u, Position());
}

TEST_F(StageState, CapacityComesFromTheHintAndCanBeSetLater) {
  ASSERT_EQ(S_OK, Query<IWinMLStatefulStageOptions>(stage_.Get())->SetSequenceCapacityHint(40));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  UINT64 capacity = 0;
  ASSERT_EQ(S_OK, state_->GetSequenceCapacity(&capacity));
  EXPECT_EQ(40u, capacity);
  EXPECT_EQ(E_INVALIDARG, state_->SetSequenceCapacity(0));
  ASSERT_EQ(S_OK, state_->SetSequenceCapacity(7));
  ASSERT_EQ(S_OK, state_->GetSequenceCapacity(&capacity));
  EXPECT_EQ(7u, capacity);
}

TEST_F(StageState, TellsADeclaredCapacityOrThatThereIsNone) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  WINML_SEQUENCE_CAPACITY_DISCLOSURE disclosure = WINML_SEQUENCE_CAPACITY_DISCLOSURE_ARTIFACT_DECLARED;
  UINT64 capacity = 5;
  ASSERT_EQ(S_OK, state_->GetDeclaredSequenceCapacity(&disclosure, &capacity));
  EXPECT_EQ(WINML_SEQUENCE_CAPACITY_DISCLOSURE_UNKNOWN, disclosure);
  EXPECT_EQ(0u, capacity);
  script_->declared_capacity = 32768;
  ASSERT_EQ(S_OK, state_->GetDeclaredSequenceCapacity(&disclosure, &capacity));
  EXPECT_EQ(WINML_SEQUENCE_CAPACITY_DISCLOSURE_ARTIFACT_DECLARED, disclosure);
  EXPECT_EQ(32768u, capacity);
}

TEST_F(StageState, ReportsItsSpeculativeLimits) {
  script_->draft_tokens = 3;
  const ComPtr<IWinMLPipeline> pipeline = Build();
  WINML_SPECULATIVE_CAPABILITIES capabilities{};
  ASSERT_EQ(S_OK, state_->GetSpeculativeCapabilities(&capabilities));
  EXPECT_EQ(4u, capabilities.maxProposedStepWidth);
  EXPECT_EQ(4u, capabilities.maxLogitRowsPerStep);
  EXPECT_EQ(WINML_SPECULATIVE_ROLLBACK_BOUND_UNBOUNDED, capabilities.rollbackBound);
  EXPECT_EQ(3u, capabilities.maxDraftTokens);
}

TEST_F(StageState, AStepWritesOneRowForEachToken) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, Step(3));
  EXPECT_EQ(3u, rows_);
  EXPECT_EQ(4u, stride_);
  EXPECT_EQ((std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0, 0, 0, 0}),
            std::vector<float>(logits_, logits_ + 16));
  EXPECT_EQ(3u, Position());
}

TEST_F(StageState, AStepThatCannotBeIsRefusedAndLeavesThePosition) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(E_INVALIDARG, Step(0));
  EXPECT_EQ(E_INVALIDARG, Step(5));
  EXPECT_EQ(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER), Step(2, 7));
  rows_ = stride_ = 9;
  script_->step_result = E_FAIL;
  EXPECT_EQ(E_FAIL, Step(2));
  EXPECT_EQ(0u, rows_);
  EXPECT_EQ(0u, stride_);
  EXPECT_EQ(0u, Position());
  EXPECT_EQ(E_NOT_VALID_STATE, Commit(0));
}

TEST_F(StageState, ACommitKeepsAPrefixOnce) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  for (const auto& [accepted, position] : {std::pair{2u, 2u}, std::pair{0u, 2u}, std::pair{3u, 5u}}) {
    ASSERT_EQ(S_OK, Step(3));
    EXPECT_EQ(E_INVALIDARG, Commit(4));
    UINT64 now = 0;
    ASSERT_EQ(S_OK, state_->CommitAcceptedPrefix(accepted, &now));
    EXPECT_EQ(position, now);
    EXPECT_EQ(position, Position());
    EXPECT_EQ(E_NOT_VALID_STATE, Commit(0));
  }
}

TEST_F(StageState, APendingStepDiesOnRunRewindResetAndResize) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, stage_->BindInput(0, Float32({1}, {1}).Get()));
  EXPECT_EQ(E_NOT_VALID_STATE, Commit(0));
  ASSERT_EQ(S_OK, Step(2));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(E_NOT_VALID_STATE, Commit(0));
  ASSERT_EQ(S_OK, Step(2));
  ASSERT_EQ(S_OK, state_->RewindTo(0));
  EXPECT_EQ(E_NOT_VALID_STATE, Commit(0));
  ASSERT_EQ(S_OK, Step(2));
  ASSERT_EQ(S_OK, pipeline->ResetExecutionState());
  EXPECT_EQ(E_NOT_VALID_STATE, Commit(0));
  ASSERT_EQ(S_OK, Step(2));
  ASSERT_EQ(S_OK, state_->SetSequenceCapacity(20));
  EXPECT_EQ(E_NOT_VALID_STATE, Commit(0));
}

TEST_F(StageState, ARefusedCallLeavesAPendingStep) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, Step(2));
  EXPECT_EQ(E_INVALIDARG, state_->RewindTo(100));
  EXPECT_EQ(E_INVALIDARG, state_->SetSequenceCapacity(0));
  EXPECT_EQ(E_INVALIDARG, pipeline->Run());  // nothing bound
  EXPECT_EQ(E_INVALIDARG, Step(0));
  EXPECT_EQ(S_OK, Commit(1));
}

TEST_F(StageState, DraftsComeUpToTheLimitOfStageAndCaller) {
  script_->draft_tokens = 3;
  const ComPtr<IWinMLPipeline> pipeline = Build();
  INT32 drafts[5] = {};
  UINT32 count = 9;
  ASSERT_EQ(S_OK, state_->ProposeDraftTokens(10, 5, drafts, &count));
  EXPECT_EQ(3u, count);
  EXPECT_EQ((std::vector<INT32>{11, 12, 13, 0, 0}), std::vector<INT32>(drafts, drafts + 5));
  ASSERT_EQ(S_OK, state_->ProposeDraftTokens(10, 2, drafts, &count));
  EXPECT_EQ(2u, count);
  ASSERT_EQ(S_OK, state_->ProposeDraftTokens(10, 0, nullptr, &count));
  EXPECT_EQ(0u, count);
  EXPECT_EQ(0u, Position());
}

TEST_F(StageState, WithoutAPredictorThereAreNoDrafts) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  UINT32 count = 9;
  EXPECT_EQ(kNotSupported, state_->ProposeDraftTokens(10, 5, tokens_, &count));
  EXPECT_EQ(0u, count);
}

TEST_F(StageState, EveryMethodIsBusyWhileThePipelineRuns) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, stage_->BindInput(0, Float32({1}, {1}).Get()));
  std::vector<HRESULT> answers;
  script_->during_run = [&] { answers = CallAll(state_.Get()); };
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(std::vector<HRESULT>(9, kBusy), answers);
}

TEST_F(StageState, AllSessionsAreResetAndTheFirstFailureIsTold) {
  const auto second = Elementwise({1}, Twice);
  const ComPtr<IWinMLStage> other = AddModel(second);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  script_->reset_result = E_ABORT;
  EXPECT_EQ(E_ABORT, pipeline->ResetExecutionState());
  EXPECT_EQ(1, second->resets);
}

// A pair of state tensors that the caller owns: x' = x + 1 in input 0 and output 0.
class CallerState : public PipelineTest {
 protected:
  CallerState() {
    const ComPtr<IWinMLStatefulStageOptions> options = Query<IWinMLStatefulStageOptions>(stage_.Get());
    EXPECT_EQ(S_OK, options->SetCallerOwnsStateTensors(TRUE));
    EXPECT_EQ(S_OK, options->AddStateTensorPair(0, 0));
    EXPECT_EQ(S_OK, stage_->BindInput(0, state_.Get()));
  }

  std::shared_ptr<FakeScript> script_ = Elementwise({2}, PlusOne);
  ComPtr<IWinMLStage> stage_ = AddModel(script_, L"s");
  ComPtr<IWinMLTensor> state_ = Float32({2}, {1, 5});
};

TEST_F(CallerState, AnUnboundStateOutputGoesBackIntoTheInput) {
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{3, 7}), Contents<float>(state_.Get()));
  EXPECT_EQ(state_.Get(), Output(stage_.Get()).Get());
}

TEST_F(CallerState, ABoundStateOutputRotatesToAnotherTensor) {
  const ComPtr<IWinMLTensor> other = Float32({2}, {0, 0});
  ASSERT_EQ(S_OK, stage_->BindOutput(0, other.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{1, 5}), Contents<float>(state_.Get()));
  EXPECT_EQ((std::vector<float>{2, 6}), Contents<float>(other.Get()));
}

TEST_F(CallerState, AFailedRunLeavesTheState) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  script_->run_result = E_FAIL;
  EXPECT_EQ(E_FAIL, pipeline->Run());
  EXPECT_EQ((std::vector<float>{1, 5}), Contents<float>(state_.Get()));
}

TEST_F(CallerState, AStateThatIsBeingReadCannotBeRun) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  const auto lock = LockOf(state_.Get(), WINML_TENSOR_LOCK_MODE_READ);
  EXPECT_EQ(kLocked, pipeline->Run());
}

}  // namespace
}  // namespace owml::test
