// Runs that give the highest logits in place of outputs, over the ABI.
// Mirrors src/runtime/pipeline.cpp and run.cpp.
#include <openwinml/pipeline_best_tokens.h>

#include "runtime/run.h"
#include "runtime_test_support.h"

namespace owml::test {
namespace {

class BestTokensRun : public PipelineTest {
 protected:
  BestTokensRun() {
    script_->stateful = true;
    script_->best_tokens = 4;
    stage_ = AddModel(script_, L"lm");
    EXPECT_EQ(S_OK, stage_->BindInput(0, Float32({2}, {1, 2}).Get()));
  }

  void BuildIt() {
    pipeline_ = Build();
    best_ = Query<IOwmlPipelineBestTokens>(pipeline_.Get());
    ASSERT_TRUE(best_);
  }

  UINT64 Position() {
    UINT64 position = 999;
    EXPECT_EQ(S_OK, Query<IWinMLStatefulStage>(stage_.Get())->GetSequencePosition(&position));
    return position;
  }

  static bool Offers(const ComPtr<IWinMLPipeline>& pipeline) {
    return Query<IOwmlPipelineBestTokens>(pipeline.Get()) != nullptr;
  }

  std::shared_ptr<FakeScript> script_ = Elementwise({kFreeDimension}, Twice);
  ComPtr<IWinMLStage> stage_;
  ComPtr<IWinMLPipeline> pipeline_;
  ComPtr<IOwmlPipelineBestTokens> best_;
  OWML_TOKEN_LOGIT list_[5] = {};
};

TEST_F(BestTokensRun, IsAnInterfaceOfThePipelineObject) {
  BuildIt();
  EXPECT_TRUE(SameObject(pipeline_.Get(), best_.Get()));
  EXPECT_EQ(Query<IWinMLPipeline>(best_.Get()).Get(), pipeline_.Get());
  EXPECT_EQ(Query<IOwmlPipelineBestTokens>(Query<IWinMLPipelineExecution>(best_.Get()).Get()).Get(), best_.Get());
  EXPECT_FALSE(Query<IOwmlPipelineBestTokens>(stage_.Get()));
}

TEST_F(BestTokensRun, IsNotOfferedWhereTheBackendGivesRowsOnly) {
  script_->best_tokens = 0;
  EXPECT_FALSE(Offers(Build()));
}

TEST_F(BestTokensRun, IsNotOfferedByAPipelineWithAnotherStageWhichItWouldLeaveOut) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  AddProcessor(processor);
  EXPECT_FALSE(Offers(Build()));
}

TEST_F(BestTokensRun, IsNotOfferedWhereTheNextIterationTakesAnOutput) {
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  EXPECT_FALSE(Offers(Build()));
}

TEST_F(BestTokensRun, RunsTheStageWithItsBoundInput) {
  BuildIt();
  UINT32 most = 0;
  ASSERT_EQ(S_OK, best_->GetMaxBestTokenCount(&most));
  EXPECT_EQ(most, 4u);
  for (int run = 1; run <= 3; ++run) {
    ASSERT_EQ(S_OK, best_->RunForBestTokens(3, list_)) << openwinml::LastErrorMessage();
    EXPECT_EQ(script_->runs, run);
    EXPECT_EQ(Position(), 2u * static_cast<UINT64>(run));
  }
  for (UINT32 i = 0; i < 3; ++i) {
    EXPECT_EQ(list_[i].tokenId, 7 + i);
    EXPECT_EQ(list_[i].logit, 0.5f - static_cast<float>(i));
  }
  EXPECT_EQ(list_[3].tokenId, 0u) << "no more than was asked for";
  ASSERT_EQ(S_OK, stage_->RequestOutput(0));
  ASSERT_EQ(S_OK, pipeline_->Run()) << "both ways continue one sequence";
  EXPECT_EQ(Position(), 8u);
}

TEST_F(BestTokensRun, RefusesBadArgumentsBeforeAnythingRuns) {
  BuildIt();
  EXPECT_EQ(E_POINTER, best_->GetMaxBestTokenCount(nullptr));
  EXPECT_EQ(E_POINTER, best_->RunForBestTokens(1, nullptr));
  ExpectError(E_INVALIDARG, best_->RunForBestTokens(0, list_), "bestCount is 0");
  ExpectError(E_INVALIDARG, best_->RunForBestTokens(5, list_), "1 to 4");
  ASSERT_EQ(S_OK, stage_->BindInput(0, nullptr));
  ExpectError(E_INVALIDARG, best_->RunForBestTokens(1, list_), "input 0 of stage 'lm' is neither connected nor bound");
  EXPECT_EQ(script_->runs, 0);
}

TEST_F(BestTokensRun, IsRefusedWhileAnOutputIsPublishedThatItWouldNotWrite) {
  BuildIt();
  ASSERT_EQ(S_OK, stage_->RequestOutput(0));
  ExpectError(E_NOT_VALID_STATE, best_->RunForBestTokens(1, list_), "output 0 of stage 'lm' is bound or requested");
  ASSERT_EQ(S_OK, stage_->BindOutput(0, Float32({2}, {0, 0}).Get()));
  EXPECT_EQ(E_NOT_VALID_STATE, best_->RunForBestTokens(1, list_));
  EXPECT_EQ(script_->runs, 0);
  ASSERT_EQ(S_OK, stage_->ResetOutput(0));
  EXPECT_EQ(S_OK, best_->RunForBestTokens(1, list_));
  EXPECT_EQ(kNotFound, GetOutput(stage_.Get()));
}

TEST_F(BestTokensRun, AFailureLeavesListAndSequence) {
  BuildIt();
  list_[0] = {99, 9};
  script_->run_result = E_ABORT;
  EXPECT_EQ(E_ABORT, best_->RunForBestTokens(1, list_));
  EXPECT_EQ(list_[0].tokenId, 99u);
  EXPECT_EQ(Position(), 0u);
  script_->run_result = S_OK;
  EXPECT_EQ(S_OK, best_->RunForBestTokens(1, list_));
}

TEST_F(BestTokensRun, IsBusyDuringARunAndEndsAPendingStep) {
  script_->step_width = 2;
  BuildIt();
  HRESULT inside = S_OK;
  script_->during_run = [&] { inside = best_->RunForBestTokens(1, list_); };
  ASSERT_EQ(S_OK, best_->RunForBestTokens(1, list_));
  EXPECT_EQ(inside, kBusy);
  script_->during_run = nullptr;

  const auto state = Query<IWinMLStatefulStage>(stage_.Get());
  const INT32 tokens[] = {1, 2};
  FLOAT logits[8] = {};
  UINT32 rows = 0, stride = 0;
  UINT64 position = 0;
  ASSERT_EQ(S_OK, state->StepAllPositions(tokens, 2, logits, 8, &rows, &stride));
  ASSERT_EQ(S_OK, best_->RunForBestTokens(1, list_));
  EXPECT_EQ(E_NOT_VALID_STATE, state->CommitAcceptedPrefix(1, &position));
}

}  // namespace
}  // namespace owml::test
