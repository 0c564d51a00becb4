// Processor stages: what Execute is given, what it may leave behind, and descriptors that lie.
// Mirrors src/runtime/run_processor.cpp.
#include "runtime/run_processor.h"

#include "runtime_test_support.h"

namespace owml::test {
namespace {

class RunProcessor : public PipelineTest {
 protected:
  void TearDown() override {
    stage_.Reset();
    pipeline_.Reset();
    builder_.Reset();
    EXPECT_EQ(1u, processor_->references);
  }

  void BuildWithInput() {
    ASSERT_EQ(S_OK, stage_->BindInput(0, Float32({2}, {1, 2}).Get()));
    pipeline_ = Build();
  }

  HRESULT AddFails(const ComPtr<AppProcessor>& processor) {
    ComPtr<IWinMLStage> stage;
    const HRESULT result = builder_->AddProcessorStage(processor.Get(), nullptr, L"p", stage.GetAddressOf());
    EXPECT_FALSE(stage);
    EXPECT_EQ(1u, processor->references);
    return result;
  }

  ComPtr<AppProcessor> processor_ = NewProcessor({2}, Twice);
  ComPtr<IWinMLStage> stage_ = AddProcessor(processor_, L"p");
  ComPtr<IWinMLPipeline> pipeline_;
};

TEST_F(RunProcessor, MakesItsOwnTensorWhereNoneIsBound) {
  ASSERT_EQ(S_OK, stage_->RequestOutput(0));
  BuildWithInput();
  ASSERT_EQ(S_OK, pipeline_->Run());
  EXPECT_FALSE(processor_->prebound);
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(Output(stage_.Get()).Get()));
}

TEST_F(RunProcessor, WritesIntoABoundTensor) {
  const ComPtr<IWinMLTensor> result = Float32({2}, {0, 0});
  ASSERT_EQ(S_OK, stage_->BindOutput(0, result.Get()));
  BuildWithInput();
  ASSERT_EQ(S_OK, pipeline_->Run());
  EXPECT_TRUE(processor_->prebound);
  EXPECT_EQ((std::vector<float>{2, 4}), Contents<float>(result.Get()));
}

TEST_F(RunProcessor, ABoundTensorIsLentWithoutAReference) {
  const auto bound = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {0, 0});
  ASSERT_EQ(S_OK, stage_->BindOutput(0, bound.Get()));
  BuildWithInput();
  const ULONG before = bound->references();
  for (int run = 0; run < 3; ++run) ASSERT_EQ(S_OK, pipeline_->Run());
  EXPECT_EQ(before, bound->references());
  processor_->during_execute = [](IWinMLTensor**, IWinMLTensor**) { return E_FAIL; };
  EXPECT_EQ(E_FAIL, pipeline_->Run());
  EXPECT_EQ(before, bound->references());
}

TEST_F(RunProcessor, ItsFailureIsPassedOn) {
  ASSERT_EQ(S_OK, stage_->RequestOutput(0));
  BuildWithInput();
  processor_->during_execute = [](IWinMLTensor**, IWinMLTensor**) { return E_ABORT; };
  ExpectError(E_ABORT, pipeline_->Run(), "stage 'p': Execute");
  EXPECT_EQ(E_NOT_VALID_STATE, GetOutput(stage_.Get()));
}

TEST_F(RunProcessor, AnOlderSentenceIsNotTakenForItsOwn) {
  BuildWithInput();
  EXPECT_EQ(E_INVALIDARG, stage_->RequestOutput(5));
  processor_->during_execute = [](IWinMLTensor**, IWinMLTensor**) { return E_ABORT; };
  EXPECT_EQ(E_ABORT, pipeline_->Run());
  EXPECT_EQ(std::string::npos, openwinml::LastErrorMessage().find("output 5")) << openwinml::LastErrorMessage();
}

TEST_F(RunProcessor, WhatItLeftBeforeAFailureIsReleased) {
  BuildWithInput();
  const auto left = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2});
  processor_->during_execute = [&](IWinMLTensor**, IWinMLTensor** output) {
    left->AddRef();
    output[0] = left.Get();
    return E_ABORT;
  };
  EXPECT_EQ(E_ABORT, pipeline_->Run());
  EXPECT_EQ(1u, left->references());
}

TEST_F(RunProcessor, SuccessWithoutATensorIsUnexpected) {
  BuildWithInput();
  processor_->during_execute = [](IWinMLTensor**, IWinMLTensor**) { return S_OK; };
  ExpectError(E_UNEXPECTED, pipeline_->Run(), "output 0 of stage 'p'");
}

TEST_F(RunProcessor, AMalformedResultIsUnexpectedAndReleased) {
  BuildWithInput();
  const auto wrong = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {3}, {1, 2, 3});
  const auto failing = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {1, 2}, {.desc_result = E_ABORT});
  for (const auto& tensor : {wrong, failing}) {
    processor_->during_execute = [&](IWinMLTensor**, IWinMLTensor** output) {
      tensor->AddRef();
      output[0] = tensor.Get();
      return S_OK;
    };
    EXPECT_EQ(E_UNEXPECTED, pipeline_->Run());
  }
  EXPECT_EQ(1u, wrong->references());
  EXPECT_EQ(1u, failing->references());
}

TEST_F(RunProcessor, ReplacingABoundTensorIsUnexpectedAndTheNewOneIsReleased) {
  const auto bound = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {0, 0});
  const auto other = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {0, 0});
  ASSERT_EQ(S_OK, stage_->BindOutput(0, bound.Get()));
  BuildWithInput();
  processor_->during_execute = [&](IWinMLTensor**, IWinMLTensor** output) {
    other->AddRef();
    output[0] = other.Get();
    return S_OK;
  };
  ExpectError(E_UNEXPECTED, pipeline_->Run(), "replaced the bound tensor");
  EXPECT_EQ(1u, other->references());
  processor_->during_execute = [](IWinMLTensor**, IWinMLTensor** output) {
    output[0] = nullptr;
    return S_OK;
  };
  EXPECT_EQ(E_UNEXPECTED, pipeline_->Run());
  EXPECT_EQ(bound.Get(), Output(stage_.Get()).Get());
  ASSERT_EQ(S_OK, stage_->ResetOutput(0));
  EXPECT_EQ(1u, bound->references());
}

TEST_F(RunProcessor, ABoundTensorThatChangedItsShapeIsRefusedBeforeTheCall) {
  StrangerConduct grows;
  grows.grows = true;
  // tells one more at every question: binding, Build, Run
  const auto tensor = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {1}, {0}, grows);
  const ComPtr<AppProcessor> processor = NewProcessor({3}, Twice);
  const ComPtr<IWinMLPipelineBuilder> builder = MakePipelineBuilder();
  ComPtr<IWinMLStage> stage;
  ASSERT_EQ(S_OK, builder->AddProcessorStage(processor.Get(), nullptr, L"q", stage.GetAddressOf()));
  ComPtr<IWinMLPipeline> pipeline;
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  ASSERT_EQ(S_OK, builder->Build(pipeline.GetAddressOf()));
  ASSERT_EQ(E_INVALIDARG, stage->BindOutput(0, tensor.Get()));  // 2
  ASSERT_EQ(S_OK, stage->BindOutput(0, tensor.Get()));          // 3
  ExpectError(E_INVALIDARG, pipeline->Run(), "output 0 of stage 'q'");
  EXPECT_EQ(0, processor->executions);
}

TEST_F(RunProcessor, AnInputThatDoesNotFitIsRefusedBeforeTheCall) {
  const ComPtr<IWinMLStage> model = AddModel(Elementwise({kFreeDimension}, Twice));
  ASSERT_EQ(S_OK, Connect(model.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, model->BindInput(0, Float32({3}, {1, 2, 3}).Get()));
  pipeline_ = Build();
  ExpectError(E_INVALIDARG, pipeline_->Run(), "input 0 of stage 'p' takes float32 [2], the tensor is float32 [3]");
  EXPECT_EQ(0, processor_->executions);
}

TEST_F(RunProcessor, ItsInputStaysAliveWhenItKeepsIt) {
  const ComPtr<IWinMLStage> model = AddModel(Elementwise({2}, PlusOne));
  ASSERT_EQ(S_OK, Connect(model.Get(), 0, stage_.Get(), 0));
  ASSERT_EQ(S_OK, model->BindInput(0, Float32({2}, {1, 2}).Get()));
  pipeline_ = Build();
  ComPtr<IWinMLTensor> kept;
  processor_->during_execute = [&](IWinMLTensor** input, IWinMLTensor**) {
    kept = input[0];
    return S_FALSE;
  };
  ASSERT_EQ(S_OK, pipeline_->Run());
  const ComPtr<IWinMLTensor> first = kept;
  ASSERT_EQ(S_OK, model->BindInput(0, Float32({2}, {8, 9}).Get()));
  ASSERT_EQ(S_OK, pipeline_->Run());
  EXPECT_EQ((std::vector<float>{2, 3}), Contents<float>(first.Get()));
}

TEST_F(RunProcessor, AnOutputThatNeedsSynchronisationIsPublishedAsAReadableCopy) {
  ASSERT_EQ(S_OK, stage_->RequestOutput(0));
  BuildWithInput();
  const auto device = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {5, 6}, {.needs_synchronization = true});
  processor_->during_execute = [&](IWinMLTensor**, IWinMLTensor** output) {
    device->AddRef();
    output[0] = device.Get();
    return S_OK;
  };
  ASSERT_EQ(S_OK, pipeline_->Run());
  EXPECT_EQ((std::vector<float>{5, 6}), Contents<float>(Output(stage_.Get()).Get()));
  EXPECT_EQ(1u, device->references());
}

TEST_F(RunProcessor, OneTensorMayFillTwoSlots) {
  const auto twice = NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {2}, {5, 6});
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  processor->output_count = 2;
  processor->during_execute = [&](IWinMLTensor**, IWinMLTensor** output) {
    for (int o = 0; o < 2; ++o) {
      twice->AddRef();
      output[o] = twice.Get();
    }
    return S_OK;
  };
  const ComPtr<IWinMLStage> stage = AddProcessor(processor);
  ASSERT_EQ(S_OK, stage->BindInput(0, Float32({2}, {1, 2}).Get()));
  ASSERT_EQ(S_OK, stage->RequestOutput(1));
  BuildWithInput();
  ASSERT_EQ(S_OK, pipeline_->Run());
  EXPECT_EQ(twice.Get(), Output(stage.Get(), 1).Get());
  ASSERT_EQ(S_OK, stage->ResetOutput(1));
  EXPECT_EQ(1u, twice->references());
}

TEST_F(RunProcessor, HostileDescriptorsAreRefusedWhenItIsAdded) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  processor->count_result = E_ABORT;
  ExpectError(E_ABORT, AddFails(processor), "stage 'p': GetInputCount");
  processor->count_result = S_OK;
  processor->desc_result = E_FAIL;
  EXPECT_EQ(E_FAIL, AddFails(processor));
  processor->desc_result = S_OK;
  processor->input_count = UINT32_MAX;
  ExpectError(E_INVALIDARG, AddFails(processor), "4294967295 inputs");
  processor->input_count = 1;
  processor->output_count = 4097;
  EXPECT_EQ(E_INVALIDARG, AddFails(processor));
  processor->output_count = 1;
  processor->rank = 65;
  EXPECT_EQ(E_INVALIDARG, AddFails(processor));
  processor->rank = 0;
  processor->null_dimensions = true;
  EXPECT_EQ(E_INVALIDARG, AddFails(processor));
  processor->null_dimensions = false;
  processor->type = static_cast<WINML_TENSOR_DATA_TYPE>(99);
  EXPECT_EQ(E_INVALIDARG, AddFails(processor));
}

TEST_F(RunProcessor, ItsExtentsAreConcreteAndFitMemory) {
  const ComPtr<AppProcessor> free_extent = NewProcessor({kFreeDimension}, Twice);
  ExpectError(E_INVALIDARG, AddFails(free_extent), "concrete");
  const ComPtr<AppProcessor> huge = NewProcessor({UINT64_MAX - 1, 8}, Twice);
  EXPECT_EQ(E_INVALIDARG, AddFails(huge));
}

TEST_F(RunProcessor, AProcessorWithoutInputsAndOutputsRuns) {
  const ComPtr<AppProcessor> processor = NewProcessor({2}, Twice);
  processor->input_count = 0;
  processor->output_count = 0;
  const ComPtr<IWinMLStage> stage = AddProcessor(processor);
  BuildWithInput();
  EXPECT_EQ(S_OK, pipeline_->Run());
  EXPECT_EQ(1, processor->executions);
  EXPECT_EQ(E_INVALIDARG, stage->RequestOutput(0));
}

TEST_F(RunProcessor, AnExceptionOfTheProcessorBecomesAnError) {
  BuildWithInput();
  processor_->during_execute = [](IWinMLTensor**, IWinMLTensor**) -> HRESULT { throw std::runtime_error("boom"); };
  ExpectError(E_FAIL, pipeline_->Run(), "boom");
  processor_->during_execute = nullptr;
  EXPECT_EQ(S_OK, pipeline_->Run());
}

}  // namespace
}  // namespace owml::test
