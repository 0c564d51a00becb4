// Next-iteration edges: seed, retained value, reset, failures, and who may touch the retained value.
// Mirrors src/runtime/run.cpp.
#include "runtime/run.h"
#include "runtime_test_support.h"

namespace owml::test {
namespace {

// x(n+1) = function(x(n)) of one stage that feeds itself.
class Feedback : public PipelineTest {
 protected:
  float Value() { return Contents<float>(Output(stage_.Get()).Get()).at(0); }

  std::shared_ptr<FakeScript> script_ = Elementwise({1}, Twice);
  ComPtr<IWinMLStage> stage_ = AddModel(script_, L"loop");
  ComPtr<IWinMLTensor> seed_ = Float32({1}, {3});
};

TEST_F(Feedback, TheFirstIterationTakesTheSeedAndTheOthersTheLastValue) {
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  for (const float wanted : {6.f, 12.f, 24.f}) {
    ASSERT_EQ(S_OK, pipeline->Run());
    EXPECT_EQ(wanted, Value());
  }
  EXPECT_EQ((std::vector<float>{3}), Contents<float>(seed_.Get()));
}

TEST_F(Feedback, WithoutASeedTheFirstIterationIsRefused) {
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ExpectError(E_INVALIDARG, pipeline->Run(), "input 0 of stage 'loop' takes the last iteration's value");
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  EXPECT_EQ(S_OK, pipeline->Run());
}

TEST_F(Feedback, TheSeedMayGoAfterTheFirstIteration) {
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  ASSERT_EQ(S_OK, stage_->BindInput(0, nullptr));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(12, Value());
}

TEST_F(Feedback, AResetGoesBackToTheSeed) {
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  ASSERT_EQ(S_OK, pipeline->Run());
  ASSERT_EQ(S_OK, pipeline->ResetExecutionState());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(6, Value());
  EXPECT_EQ(1, script_->resets);
}

TEST_F(Feedback, AFailedRunKeepsTheLastValue) {
  const auto after = Elementwise({1}, PlusOne);
  const ComPtr<IWinMLStage> last = AddModel(after);
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, Connect(stage_.Get(), 0, last.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  after->run_result = E_FAIL;
  EXPECT_EQ(E_FAIL, pipeline->Run());
  EXPECT_EQ(6, Value());
  after->run_result = S_OK;
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(12, Value());
}

TEST_F(Feedback, AFailedFirstRunStillNeedsTheSeed) {
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  script_->run_result = E_FAIL;
  EXPECT_EQ(E_FAIL, pipeline->Run());
  script_->run_result = S_OK;
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(6, Value());
}

TEST_F(Feedback, WritingToThePublishedValueDoesNotReachTheNextIteration) {
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  const ComPtr<IWinMLTensor> published = Output(stage_.Get());
  const auto lock = LockOf(published.Get(), WINML_TENSOR_LOCK_MODE_WRITE);
  const float rubbish = -1000;
  std::memcpy(DataOf(lock.Get()), &rubbish, sizeof(rubbish));
  ASSERT_EQ(S_OK, pipeline->Run());  // also while it is locked
  EXPECT_EQ(12, Value());
}

TEST_F(Feedback, WritingToABoundOutputDoesNotReachTheNextIteration) {
  const ComPtr<IWinMLTensor> result = Float32({1}, {0});
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  ASSERT_EQ(S_OK, stage_->BindOutput(0, result.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, pipeline->Run());
  {
    const auto lock = LockOf(result.Get(), WINML_TENSOR_LOCK_MODE_WRITE);
    std::memset(DataOf(lock.Get()), 0, sizeof(float));
  }
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{12}), Contents<float>(result.Get()));
}

TEST_F(Feedback, GoesThroughProcessorsAndFromALaterStageToAnEarlierOne) {
  const ComPtr<AppProcessor> processor = NewProcessor({1}, PlusOne);
  const ComPtr<IWinMLStage> second = AddProcessor(processor);
  ASSERT_EQ(S_OK, Connect(stage_.Get(), 0, second.Get(), 0));
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(second.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(second.Get());
  for (const float wanted : {7.f, 15.f, 31.f}) {
    ASSERT_EQ(S_OK, pipeline->Run());
    EXPECT_EQ(wanted, Contents<float>(Output(second.Get()).Get()).at(0));
  }
  stage_.Reset();
}

TEST_F(Feedback, TakesADeviceTensorOfAProcessorThroughItsSynchronizedLock) {
  const ComPtr<AppProcessor> processor = NewProcessor({1}, PlusOne);
  const auto device = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {1}, {40}, {.needs_synchronization = true});
  processor->during_execute = [&](IWinMLTensor**, IWinMLTensor** output) {
    device->AddRef();
    output[0] = device.Get();
    return S_OK;
  };
  const ComPtr<IWinMLStage> source = AddProcessor(processor);
  ASSERT_EQ(S_OK, source->BindInput(0, seed_.Get()));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(source.Get(), 0, stage_.Get(), 0));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(6, Value());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(80, Value());
  EXPECT_EQ(1u, device->references());
}

TEST_F(Feedback, OneOutputMayFeedThisIterationAndTheNext) {
  const ComPtr<IWinMLStage> now = AddModel(Elementwise({1}, PlusOne));
  const ComPtr<IWinMLStage> later = AddModel(Elementwise({1}, PlusOne));
  ASSERT_EQ(S_OK, Connect(stage_.Get(), 0, now.Get(), 0));
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, later.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  ASSERT_EQ(S_OK, later->BindInput(0, Float32({1}, {100}).Get()));
  ASSERT_EQ(S_OK, now->RequestOutput(0));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(later.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(7, Contents<float>(Output(now.Get()).Get()).at(0));
  EXPECT_EQ(101, Contents<float>(Output(later.Get()).Get()).at(0));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(7, Contents<float>(Output(later.Get()).Get()).at(0));
}

TEST_F(Feedback, AResetThatFailsDropsTheRetainedValueAllTheSame) {
  ASSERT_EQ(S_OK, builder_->ConnectNextIteration(stage_.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, stage_->BindInput(0, seed_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  script_->reset_result = E_ABORT;
  EXPECT_EQ(E_ABORT, pipeline->ResetExecutionState());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(6, Value());
}

}  // namespace
}  // namespace owml::test
