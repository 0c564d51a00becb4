// The asynchronous sides of a pipeline, media segments and fences; and how long everything lives.
// Mirrors src/runtime/pipeline.cpp, stage_segments.cpp, fence.cpp and pipeline_core.h.
#include "runtime/pipeline.h"

#include "runtime/fence.h"
#include "runtime_test_support.h"

namespace owml::test {
namespace {

class Pipeline : public PipelineTest {
 protected:
  std::shared_ptr<FakeScript> script_ = Elementwise({2}, Twice);
};

TEST_F(Pipeline, ACpuPipelineHasNoAsynchronousCapabilities) {
  AddModel(script_);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  const auto execution = Query<IWinMLPipelineExecution>(pipeline.Get());
  ASSERT_TRUE(execution);
  auto capabilities = static_cast<WINML_PIPELINE_EXECUTION_CAPABILITIES>(3);
  EXPECT_EQ(S_OK, execution->GetCapabilities(&capabilities));
  EXPECT_EQ(WINML_PIPELINE_EXECUTION_CAPABILITY_NONE, capabilities);
  EXPECT_EQ(E_POINTER, execution->GetCapabilities(nullptr));
}

TEST_F(Pipeline, ACpuPipelineRefusesSubmission) {
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {1, 2}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  const auto execution = Query<IWinMLPipelineExecution>(pipeline.Get());
  const auto iterations = Query<IWinMLPipelineIterationExecution>(pipeline.Get());
  ASSERT_TRUE(iterations);
  ComPtr<IWinMLFence> fence;
  EXPECT_EQ(E_POINTER, execution->Submit(nullptr, nullptr));
  EXPECT_EQ(kNotSupported, execution->Submit(nullptr, fence.GetAddressOf()));
  EXPECT_EQ(kNotSupported, execution->Submit(MakeCompletedFence().Get(), fence.GetAddressOf()));
  EXPECT_EQ(E_POINTER, iterations->SubmitIterations(0, nullptr, nullptr));
  EXPECT_EQ(E_INVALIDARG, iterations->SubmitIterations(0, nullptr, fence.GetAddressOf()));
  EXPECT_EQ(kNotSupported, iterations->SubmitIterations(3, nullptr, fence.GetAddressOf()));
  EXPECT_FALSE(fence);
  EXPECT_EQ(0, script_->runs);
  EXPECT_EQ(S_OK, pipeline->Run());
}

TEST_F(Pipeline, ItsInterfacesAreOneObject) {
  AddModel(script_);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  const auto execution = Query<IWinMLPipelineExecution>(pipeline.Get());
  EXPECT_TRUE(SameObject(pipeline.Get(), execution.Get()));
  EXPECT_TRUE(Query<IWinMLPipeline>(execution.Get()));
}

TEST_F(Pipeline, ACompletedFenceIsCompleteAndHasNoDevice) {
  const ComPtr<IWinMLFence> fence = MakeCompletedFence();
  BOOL complete = FALSE;
  ComPtr<IUnknown> d3d12;
  UINT64 value = 9;
  EXPECT_EQ(S_OK, fence->Wait(0));
  EXPECT_EQ(S_OK, fence->Wait(INFINITE));
  EXPECT_EQ(S_OK, fence->IsComplete(&complete));
  EXPECT_TRUE(complete);
  EXPECT_EQ(E_NOT_VALID_STATE, fence->GetD3D12Fence(d3d12.GetAddressOf()));
  EXPECT_EQ(S_OK, fence->GetCompletionValue(&value));
  EXPECT_EQ(0u, value);
  EXPECT_EQ(E_POINTER, fence->IsComplete(nullptr));
  EXPECT_EQ(E_POINTER, fence->GetD3D12Fence(nullptr));
  EXPECT_EQ(E_POINTER, fence->GetCompletionValue(nullptr));
}

// Every method that a stage without media refuses, with honest arguments.
std::vector<HRESULT> CallSegments(IWinMLSegmentedSequenceStage* segments, IWinMLPipeline* pipeline, IWinMLStage* stage,
                                  IWinMLTensor* tensor, IWinMLSequenceSegmentLayout* layout) {
  UINT32 length = 0;
  WINML_TENSOR_DATA_TYPE type{};
  ComPtr<IWinMLMediaEncoder> encoder;
  return {segments->GetEmbeddingLength(&length),
          segments->GetEmbeddingDataType(&type),
          segments->CreateMediaEncoderFromFile(L"mmproj.gguf", nullptr, encoder.GetAddressOf()),
          segments->CreateMediaEncoderFromPipeline(pipeline, stage, 0, stage, 0, encoder.GetAddressOf()),
          segments->BindEmbeddingSegment(0, tensor, layout),
          segments->ClearEmbeddingSegment(0)};
}

TEST_F(Pipeline, AStageWithoutMediaSaysSo) {
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  const auto segments = Query<IWinMLSegmentedSequenceStage>(stage.Get());
  ASSERT_TRUE(segments);
  const auto tensor = Float32({2}, {1, 2});
  // never called, only not null
  const auto layout = reinterpret_cast<IWinMLSequenceSegmentLayout*>(tensor.Get());
  const auto some_pipeline = reinterpret_cast<IWinMLPipeline*>(tensor.Get());
  WINML_SEGMENTED_SEQUENCE_CAPABILITIES capabilities;
  std::memset(&capabilities, 0xff, sizeof(capabilities));
  EXPECT_EQ(std::vector<HRESULT>(6, E_NOT_VALID_STATE),
            CallSegments(segments.Get(), some_pipeline, stage.Get(), tensor.Get(), layout));
  EXPECT_EQ(E_NOT_VALID_STATE, segments->GetCapabilities(&capabilities));
  ASSERT_EQ(S_OK, stage->BindInput(0, tensor.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(std::vector<HRESULT>(6, kNotSupported),
            CallSegments(segments.Get(), pipeline.Get(), stage.Get(), tensor.Get(), layout));
  std::memset(&capabilities, 0xff, sizeof(capabilities));
  EXPECT_EQ(S_OK, segments->GetCapabilities(&capabilities));
  EXPECT_FALSE(capabilities.supportsEncoderFromFile);
  EXPECT_FALSE(capabilities.supportsEncoderFromPipeline);
  EXPECT_FALSE(capabilities.supportsEmbeddingInput);
  EXPECT_FALSE(capabilities.hasEmbeddingShape);
  EXPECT_EQ(E_INVALIDARG, segments->BindEmbeddingSegment(1, tensor.Get(), layout));
  EXPECT_EQ(E_INVALIDARG, segments->ClearEmbeddingSegment(1));
  std::vector<HRESULT> answers;
  HRESULT query = S_OK;
  script_->during_run = [&] {
    answers = CallSegments(segments.Get(), pipeline.Get(), stage.Get(), tensor.Get(), layout);
    query = segments->GetCapabilities(&capabilities);
  };
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(std::vector<HRESULT>(6, kBusy), answers);
  EXPECT_EQ(kBusy, query);
}

TEST_F(Pipeline, SegmentMethodsRefuseNull) {
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  const auto segments = Query<IWinMLSegmentedSequenceStage>(stage.Get());
  const auto tensor = Float32({2}, {1, 2});
  ComPtr<IWinMLMediaEncoder> encoder;
  EXPECT_EQ(E_POINTER, segments->GetEmbeddingLength(nullptr));
  EXPECT_EQ(E_POINTER, segments->GetEmbeddingDataType(nullptr));
  EXPECT_EQ(E_POINTER, segments->GetCapabilities(nullptr));
  EXPECT_EQ(E_POINTER, segments->CreateMediaEncoderFromFile(nullptr, nullptr, encoder.GetAddressOf()));
  EXPECT_EQ(E_POINTER, segments->CreateMediaEncoderFromFile(L"x", nullptr, nullptr));
  EXPECT_EQ(E_POINTER,
            segments->CreateMediaEncoderFromPipeline(nullptr, stage.Get(), 0, stage.Get(), 0, encoder.GetAddressOf()));
  EXPECT_EQ(E_POINTER, segments->BindEmbeddingSegment(0, nullptr, nullptr));
  EXPECT_EQ(E_POINTER, segments->BindEmbeddingSegment(9, tensor.Get(), nullptr));
}

// Handles in one of many orders; whoever is last keeps what it needs.
TEST_F(Pipeline, HandlesAreReleasedInAnyOrder) {
  std::vector<int> order = {0, 1, 2, 3, 4};
  do {
    ComPtr<IWinMLPipelineBuilder> builder = MakePipelineBuilder();
    ComPtr<IWinMLModel> model = MakeModel(MakeFakeModel(script_));
    ComPtr<IWinMLStage> stage;
    ASSERT_EQ(S_OK, builder->AddModelStage(model.Get(), nullptr, nullptr, stage.GetAddressOf()));
    ComPtr<IWinMLPipeline> pipeline;
    ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {1, 2}).Get()));
    ASSERT_EQ(S_OK, stage->RequestOutput(0));
    ASSERT_EQ(S_OK, builder->Build(pipeline.GetAddressOf()));
    ASSERT_EQ(S_OK, pipeline->Run());
    ComPtr<IWinMLTensor> output = Output(stage.Get());
    for (const int which : order) {
      if (which == 0) builder.Reset();
      if (which == 1) model.Reset();
      if (which == 2) stage.Reset();
      if (which == 3) pipeline.Reset();
      if (which == 4) output.Reset();
      if (pipeline) {
        EXPECT_EQ(S_OK, pipeline->Run());
      }
      if (stage) {
        EXPECT_EQ(S_OK, GetOutput(stage.Get()));
      }
      if (output) {
        EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(output.Get()));
      }
    }
    EXPECT_EQ(0, script_->live_sessions);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(Pipeline, StringsOfAStageLiveAsLongAsItsHandle) {
  const ComPtr<IWinMLStage> stage = AddModel(script_, L"keeps its name");
  LPCWSTR name = nullptr;
  ASSERT_EQ(S_OK, stage->GetDebugName(&name));
  Build();
  builder_.Reset();
  EXPECT_STREQ(L"keeps its name", name);
}

TEST_F(Pipeline, ABuilderThatNeverBuildsLeavesNothing) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  const auto tensor = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2});
  ASSERT_EQ(S_OK, AddModel(script_)->BindInput(0, tensor.Get()));
  AddProcessor(processor);
  EXPECT_GT(processor->references, 1u);
  EXPECT_GT(tensor->references(), 1u);
  builder_.Reset();
  EXPECT_EQ(1u, processor->references);
  EXPECT_EQ(1u, tensor->references());
}

TEST_F(Pipeline, BoundTensorsAreHeldUntilTheyAreReplaced) {
  const auto tensor = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2});
  const ComPtr<IWinMLStage> stage = AddModel(script_);
  ASSERT_EQ(S_OK, stage->BindInput(0, tensor.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(2u, tensor->references());
  ASSERT_EQ(S_OK, stage->BindInput(0, nullptr));
  EXPECT_EQ(1u, tensor->references());
}

}  // namespace
}  // namespace owml::test
