// Binding, publishing and reading tensors of a stage, before and after Build.
// Mirrors src/runtime/stage_bindings.cpp and stage_schema.cpp.
#include "runtime/stage_bindings.h"

#include "runtime_test_support.h"

namespace owml::test {
namespace {

class StageBindings : public PipelineTest {
 protected:
  std::shared_ptr<FakeScript> script_ = Elementwise({2}, Twice);
  ComPtr<IWinMLStage> stage_ = AddModel(script_, L"s");
  ComPtr<IWinMLTensor> one_two_ = Float32({2}, {1, 2});
};

TEST_F(StageBindings, NullOutPointersAndTensorsAreRefused) {
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(E_POINTER, stage_->BindOutput(0, nullptr));
  EXPECT_EQ(E_POINTER, stage_->GetOutput(0, nullptr));
  EXPECT_EQ(E_POINTER, stage_->GetExecutionTarget(nullptr));
  EXPECT_EQ(E_POINTER, stage_->BindOutput(9, nullptr));
  EXPECT_EQ(E_POINTER, stage_->GetOutput(9, nullptr));
}

TEST_F(StageBindings, IndexesOutOfRangeAreRefusedBeforeAndAfterBuild) {
  const auto expect_refusals = [&] {
    ComPtr<IWinMLTensor> tensor;
    EXPECT_EQ(E_INVALIDARG, stage_->BindInput(1, one_two_.Get()));
    EXPECT_EQ(E_INVALIDARG, stage_->BindInput(1, nullptr));
    EXPECT_EQ(E_INVALIDARG, stage_->BindOutput(1, one_two_.Get()));
    EXPECT_EQ(E_INVALIDARG, stage_->RequestOutput(1));
    EXPECT_EQ(E_INVALIDARG, stage_->ResetOutput(UINT32_MAX));
    ExpectError(E_INVALIDARG, stage_->GetOutput(1, tensor.GetAddressOf()), "output 1 of stage 's' does not exist");
  };
  expect_refusals();
  const ComPtr<IWinMLPipeline> pipeline = Build();
  expect_refusals();
}

TEST_F(StageBindings, AnUnknownSchemaTakesPositionsUpToABound) {
  script_->declares_schema = false;
  const ComPtr<IWinMLStage> late = AddModel(script_);
  EXPECT_EQ(S_OK, late->BindInput(4095, one_two_.Get()));
  EXPECT_EQ(E_INVALIDARG, late->BindInput(4096, one_two_.Get()));
  EXPECT_EQ(E_INVALIDARG, late->RequestOutput(UINT32_MAX));
  EXPECT_EQ(kNotFound, GetOutput(late.Get(), 4095));
}

TEST_F(StageBindings, TensorsThatCannotFitAreRefusedAtOnce) {
  ExpectError(E_INVALIDARG, stage_->BindInput(0, NewTensor<int8_t>(WINML_TENSOR_DATA_TYPE_INT8, {2}, {1, 2}).Get()),
              "input 0 of stage 's' takes float32 [2], the tensor is int8 [2]");
  EXPECT_EQ(E_INVALIDARG, stage_->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  EXPECT_EQ(E_INVALIDARG, stage_->BindInput(0, Float32({2, 1}, {1, 2}).Get()));
  EXPECT_EQ(E_INVALIDARG, stage_->BindInput(0, Float32({}, {1}).Get()));
  ExpectError(E_INVALIDARG, stage_->BindOutput(0, Int32({2}, {1, 2}).Get()), "output 0 of stage 's'");
  EXPECT_EQ(kNotFound, GetOutput(stage_.Get()));
}

TEST_F(StageBindings, ARefusedTensorLeavesTheOldBinding) {
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  ASSERT_EQ(E_INVALIDARG, stage_->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(Output(stage_.Get()).Get()));
}

TEST_F(StageBindings, ANullTensorRemovesAnInput) {
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  ASSERT_EQ(S_OK, stage_->BindInput(0, nullptr));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ExpectError(E_INVALIDARG, pipeline->Run(), "input 0 of stage 's' is neither connected nor bound");
  EXPECT_EQ(0, script_->runs);
}

TEST_F(StageBindings, AConnectedInputTakesNoTensor) {
  const ComPtr<IWinMLStage> next = AddModel(script_, L"next");
  ASSERT_EQ(S_OK, Connect(stage_.Get(), 0, next.Get(), 0));
  ExpectError(E_INVALIDARG, next->BindInput(0, one_two_.Get()), "connected");
  EXPECT_EQ(S_OK, next->BindInput(0, nullptr));
}

TEST_F(StageBindings, InputsStayUntilTheyAreReplaced) {
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(S_OK, pipeline->Run());
    EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(Output(stage_.Get()).Get()));
    ASSERT_EQ(S_OK, pipeline->ResetExecutionState());
  }
  ASSERT_EQ(S_OK, stage_->BindInput(0, Float32({2}, {5, 6}).Get()));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{10, 12}), Contents<float>(Output(stage_.Get()).Get()));
}

TEST_F(StageBindings, AnUnpublishedOutputIsNotFound) {
  EXPECT_EQ(kNotFound, GetOutput(stage_.Get()));
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ(kNotFound, GetOutput(stage_.Get()));
  EXPECT_EQ((std::vector<bool>{false}), script_->last_wanted);
}

TEST_F(StageBindings, ARequestedOutputIsThereAfterARun) {
  ASSERT_EQ(S_OK, stage_->RequestOutput(0));
  EXPECT_EQ(E_NOT_VALID_STATE, GetOutput(stage_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(E_NOT_VALID_STATE, GetOutput(stage_.Get()));
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(Output(stage_.Get()).Get()));
  ASSERT_EQ(S_OK, stage_->RequestOutput(0));  // again: the result stays
  EXPECT_EQ(S_OK, GetOutput(stage_.Get()));
}

TEST_F(StageBindings, ABoundOutputIsReadableBeforeARunAndHoldsTheResultAfterIt) {
  const ComPtr<IWinMLTensor> result = Float32({2}, {-1, -1});
  ASSERT_EQ(S_OK, stage_->BindOutput(0, result.Get()));
  EXPECT_EQ(result.Get(), Output(stage_.Get()).Get());
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ((std::vector<float>{-1, -1}), Contents<float>(result.Get()));
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(result.Get()));
  EXPECT_EQ(result.Get(), Output(stage_.Get()).Get());
}

TEST_F(StageBindings, EveryOutputChangeWorksAfterBuild) {
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  const ComPtr<IWinMLTensor> first = Float32({2}, {0, 0});
  const ComPtr<IWinMLTensor> second = Float32({2}, {0, 0});
  ASSERT_EQ(S_OK, stage_->BindOutput(0, first.Get()));
  ASSERT_EQ(S_OK, pipeline->Run());
  ASSERT_EQ(S_OK, stage_->BindOutput(0, second.Get()));
  ASSERT_EQ(S_OK, stage_->BindInput(0, Float32({2}, {3, 4}).Get()));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(first.Get()));
  EXPECT_EQ((std::vector<float>{6, 8}), Contents<float>(second.Get()));
  ASSERT_EQ(S_OK, stage_->RequestOutput(0));
  EXPECT_EQ(E_NOT_VALID_STATE, GetOutput(stage_.Get()));
  ASSERT_EQ(S_OK, stage_->ResetOutput(0));
  EXPECT_EQ(kNotFound, GetOutput(stage_.Get()));
  EXPECT_EQ(S_OK, stage_->ResetOutput(0));
}

TEST_F(StageBindings, AnOutputThatWasTakenOutlivesTheNextRun) {
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = BuildRequesting(stage_.Get());
  ASSERT_EQ(S_OK, pipeline->Run());
  const ComPtr<IWinMLTensor> first = Output(stage_.Get());
  ASSERT_EQ(S_OK, stage_->BindInput(0, Float32({2}, {3, 4}).Get()));
  ASSERT_EQ(S_OK, pipeline->Run());
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(first.Get()));
  EXPECT_EQ((std::vector<float>{6, 8}), Contents<float>(Output(stage_.Get()).Get()));
}

TEST_F(StageBindings, ALockedTensorFailsTheRunAndNothingElse) {
  const ComPtr<IWinMLTensor> result = Float32({2}, {-1, -1});
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  ASSERT_EQ(S_OK, stage_->BindOutput(0, result.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  {
    const auto lock = LockOf(one_two_.Get(), WINML_TENSOR_LOCK_MODE_WRITE);
    ExpectError(kLocked, pipeline->Run(), "input 0 of stage 's'");
  }
  {
    const auto lock = LockOf(result.Get(), WINML_TENSOR_LOCK_MODE_READ);
    ExpectError(kLocked, pipeline->Run(), "output 0 of stage 's'");
    const auto read = LockOf(one_two_.Get(), WINML_TENSOR_LOCK_MODE_READ);
  }
  EXPECT_EQ((std::vector<float>{-1, -1}), Contents<float>(result.Get()));
  EXPECT_EQ(S_OK, pipeline->Run());
}

TEST_F(StageBindings, OneTensorCannotBeInputAndOutputOfOneRun) {
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  ASSERT_EQ(S_OK, stage_->BindOutput(0, one_two_.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(kLocked, pipeline->Run());
  EXPECT_EQ((std::vector<float>{1, 2}), Contents<float>(one_two_.Get()));
}

TEST_F(StageBindings, ABoundReadOnlyViewIsRefusedAsOutput) {
  float values[2] = {7, 7};
  const Shape shape = {WINML_TENSOR_DATA_TYPE_FLOAT32, {2}};
  const WINML_TENSOR_DESC desc = shape.desc();
  const ComPtr<IWinMLTensor> view = CreateTensorFromRawBuffer(&desc, reinterpret_cast<BYTE*>(values), sizeof(values),
                                                              WINML_TENSOR_ACCESS_MODE_READ, nullptr);
  ASSERT_EQ(S_OK, stage_->BindInput(0, one_two_.Get()));
  ASSERT_EQ(S_OK, stage_->BindOutput(0, view.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(E_ACCESSDENIED, pipeline->Run());
  EXPECT_EQ(7, values[0]);
}

TEST_F(StageBindings, TheTargetIsKnownAfterBuild) {
  ComPtr<IWinMLExecutionTarget> target;
  EXPECT_EQ(E_NOT_VALID_STATE, stage_->GetExecutionTarget(target.GetAddressOf()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, stage_->GetExecutionTarget(target.GetAddressOf()));
  WINML_EXECUTION_TARGET_KIND kind{};
  ASSERT_EQ(S_OK, target->GetKind(&kind));
  EXPECT_EQ(WINML_EXECUTION_TARGET_KIND_CPU, kind);
}

TEST_F(StageBindings, CountsAreKnownEarlyAndDescriptorsAfterBuild) {
  const ComPtr<IWinMLStageSchema> schema = Query<IWinMLStageSchema>(stage_.Get());
  UINT32 count = 7;
  WINML_TENSOR_DESC desc{};
  EXPECT_EQ(S_OK, schema->GetInputCount(&count));
  EXPECT_EQ(1u, count);
  EXPECT_EQ(E_NOT_VALID_STATE, schema->GetInputTensorDesc(0, &desc));
  EXPECT_EQ(E_NOT_VALID_STATE, schema->GetOutputTensorDesc(9, &desc));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, schema->GetInputTensorDesc(0, &desc));
  EXPECT_EQ(WINML_TENSOR_DATA_TYPE_FLOAT32, desc.dataType);
  ASSERT_EQ(1u, desc.dimensionCount);
  EXPECT_EQ(2u, desc.dimensions[0]);
  EXPECT_EQ(S_OK, schema->GetOutputTensorDesc(0, &desc));
  EXPECT_EQ(E_INVALIDARG, schema->GetInputTensorDesc(1, &desc));
  EXPECT_EQ(E_INVALIDARG, schema->GetOutputTensorDesc(1, &desc));
  EXPECT_EQ(E_POINTER, schema->GetInputCount(nullptr));
  EXPECT_EQ(E_POINTER, schema->GetOutputCount(nullptr));
  EXPECT_EQ(E_POINTER, schema->GetInputTensorDesc(0, nullptr));
  EXPECT_EQ(E_POINTER, schema->GetOutputTensorDesc(1, nullptr));
}

TEST_F(StageBindings, AnUnknownSchemaCountsZeroUntilBuildSettlesIt) {
  const auto script = Elementwise({kFreeDimension}, Twice);
  script->declares_schema = false;
  script->built = Elementwise({4}, Twice)->schema;
  const ComPtr<IWinMLStage> late = AddModel(script);
  const ComPtr<IWinMLStageSchema> schema = Query<IWinMLStageSchema>(late.Get());
  UINT32 count = 7;
  EXPECT_EQ(S_OK, schema->GetOutputCount(&count));
  EXPECT_EQ(0u, count);
  const ComPtr<IWinMLPipeline> pipeline = Build();
  EXPECT_EQ(S_OK, schema->GetOutputCount(&count));
  EXPECT_EQ(1u, count);
  WINML_TENSOR_DESC desc{};
  ASSERT_EQ(S_OK, schema->GetInputTensorDesc(0, &desc));
  EXPECT_EQ(4u, desc.dimensions[0]);
}

TEST_F(StageBindings, AnOnnxStageBindsByName) {
  const ComPtr<IWinMLOrtNamedBindings> names = Query<IWinMLOrtNamedBindings>(stage_.Get());
  ASSERT_TRUE(names);
  EXPECT_EQ(S_OK, names->BindInputByName(L"x", one_two_.Get()));
  const ComPtr<IWinMLTensor> result = Float32({2}, {0, 0});
  EXPECT_EQ(S_OK, names->BindOutputByName(L"y", result.Get()));
  const ComPtr<IWinMLPipeline> pipeline = Build();
  ASSERT_EQ(S_OK, pipeline->Run());
  ComPtr<IWinMLTensor> tensor;
  EXPECT_EQ(S_OK, names->GetOutputByName(L"y", tensor.GetAddressOf()));
  EXPECT_EQ(result.Get(), tensor.Get());
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(result.Get()));
  EXPECT_EQ(S_OK, names->BindInputByName(L"x", nullptr));
  EXPECT_EQ(E_INVALIDARG, pipeline->Run());
}

TEST_F(StageBindings, NamesAreRefusedAsTheirPositionsAre) {
  const ComPtr<IWinMLOrtNamedBindings> names = Query<IWinMLOrtNamedBindings>(stage_.Get());
  ComPtr<IWinMLTensor> tensor;
  EXPECT_EQ(E_INVALIDARG, names->BindInputByName(nullptr, one_two_.Get()));
  EXPECT_EQ(E_INVALIDARG, names->BindOutputByName(nullptr, nullptr));
  EXPECT_EQ(E_INVALIDARG, names->GetOutputByName(nullptr, tensor.GetAddressOf()));
  EXPECT_EQ(E_POINTER, names->GetOutputByName(nullptr, nullptr));
  EXPECT_EQ(E_POINTER, names->BindOutputByName(L"y", nullptr));
  ExpectError(kNotFound, names->BindInputByName(L"X", one_two_.Get()), "stage 's' has no input 'X'");
  EXPECT_EQ(kNotFound, names->BindInputByName(L"y", one_two_.Get()));
  EXPECT_EQ(kNotFound, names->BindOutputByName(L"x", one_two_.Get()));
  EXPECT_EQ(kNotFound, names->BindInputByName(L"", one_two_.Get()));
  EXPECT_EQ(kNotFound, names->GetOutputByName(L"y", tensor.GetAddressOf()));  // not published
  EXPECT_EQ(E_INVALIDARG, names->BindInputByName(L"x", Int32({2}, {1, 2}).Get()));
}

TEST_F(StageBindings, OtherStagesDoNotOfferNames) {
  const auto gguf = Elementwise({2}, Twice);
  gguf->onnx = false;
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  for (const ComPtr<IWinMLStage>& stage : {AddModel(gguf), AddProcessor(processor)}) {
    EXPECT_FALSE(Query<IWinMLOrtNamedBindings>(stage.Get()));
    EXPECT_FALSE(Query<IWinMLOrtStageOptions>(stage.Get()));
    EXPECT_FALSE(Query<IWinMLOrtStageDiagnostics>(stage.Get()));
    EXPECT_FALSE(Query<IWinMLOnnxSymbolicDimensionOverrides>(stage.Get()));
    EXPECT_TRUE(Query<IWinMLStageSchema>(stage.Get()));
    EXPECT_TRUE(Query<IWinMLStatefulStage>(stage.Get()));
    EXPECT_TRUE(Query<IWinMLSegmentedSequenceStage>(stage.Get()));
  }
}

}  // namespace
}  // namespace owml::test
