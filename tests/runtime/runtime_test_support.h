// Short ways to write pipelines of scripted models and of application processors.
// Used by the tests of src/runtime.
#pragma once

#include <WinMLRuntime.h>
#include <WinMLRuntimeOrt.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <span>

#include "backend/fake/fake_backend.h"
#include "runtime/model.h"
#include "runtime/pipeline_builder.h"
#include "runtime/runtime.h"
#include "tensor/stranger_tensor.h"
#include "tensor/tensor_test_support.h"

namespace owml::test {

inline constexpr HRESULT kBusy = HRESULT_FROM_WIN32(ERROR_BUSY);
inline constexpr HRESULT kNotFound = HRESULT_FROM_WIN32(ERROR_NOT_FOUND);

inline TensorSpec Spec(Dims dims, DType dtype = DType::kFloat32, std::string name = "") {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.dtype = dtype;
  spec.dim_names.resize(dims.size());
  spec.dims = std::move(dims);
  return spec;
}

inline std::span<float> Floats(const TensorView& view) {
  return {reinterpret_cast<float*>(view.data), static_cast<size_t>(view.bytes / sizeof(float))};
}

// One float input "x", one float output "y" of the same shape, y = function(x) element by element.
inline std::shared_ptr<FakeScript> Elementwise(Dims dims, std::function<float(float)> function) {
  auto script = std::make_shared<FakeScript>();
  script->schema.inputs = {Spec(dims, DType::kFloat32, "x")};
  script->schema.outputs = {Spec(dims, DType::kFloat32, "y")};
  script->compute = [function](std::span<const InputValue> inputs, std::span<const TensorView> outputs) {
    const std::span<float> from = Floats(inputs[0].view);
    std::transform(from.begin(), from.end(), Floats(outputs[0]).begin(), function);
  };
  return script;
}

inline float Twice(float x) { return 2 * x; }
inline float PlusOne(float x) { return x + 1; }

// Objects of the application's where ours are wanted: they have an identity and nothing else.
template <class Interface>
class ForeignObject : public Interface {
 public:
  virtual ~ForeignObject() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    *object = nullptr;
    if (iid != __uuidof(IUnknown) && iid != __uuidof(Interface)) return E_NOINTERFACE;
    *object = static_cast<Interface*>(this);
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
};

class ForeignModel final : public ForeignObject<IWinMLModel> {};

class ForeignTarget final : public ForeignObject<IWinMLExecutionTarget> {
 public:
  HRESULT STDMETHODCALLTYPE GetKind(WINML_EXECUTION_TARGET_KIND* kind) override {
    *kind = WINML_EXECUTION_TARGET_KIND_CPU;
    return S_OK;
  }
};

class ForeignStageBase : public ForeignObject<IWinMLStage> {
 public:
  HRESULT STDMETHODCALLTYPE GetDebugName(LPCWSTR*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE BindInput(UINT32, IWinMLTensor*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE BindOutput(UINT32, IWinMLTensor*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetOutput(UINT32, IWinMLTensor**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE RequestOutput(UINT32) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE ResetOutput(UINT32) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetExecutionTarget(IWinMLExecutionTarget**) override { return E_NOTIMPL; }
};

class ForeignStage final : public ForeignStageBase {};

// A processor as an application writes it: one float input and output, y = function(x), and knobs that make it lie.
class AppProcessor : public IWinMLProcessor {
 public:
  AppProcessor(std::vector<UINT64> dims, std::function<float(float)> function)
      : dims_(std::move(dims)), function_(std::move(function)) {}
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (!object) return E_POINTER;
    *object = nullptr;
    if (iid != __uuidof(IUnknown) && iid != __uuidof(IWinMLProcessor)) return E_NOINTERFACE;
    *object = static_cast<IWinMLProcessor*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references;
    if (left == 0) delete this;
    return left;
  }

  HRESULT STDMETHODCALLTYPE GetInputCount(UINT32* count) override {
    *count = input_count;
    return count_result;
  }
  HRESULT STDMETHODCALLTYPE GetInputTensorDesc(UINT32, WINML_TENSOR_DESC* desc) override {
    *desc = Desc();
    return desc_result;
  }
  HRESULT STDMETHODCALLTYPE GetOutputCount(UINT32* count) override {
    *count = output_count;
    return count_result;
  }
  HRESULT STDMETHODCALLTYPE GetOutputTensorDesc(UINT32, WINML_TENSOR_DESC* desc) override {
    *desc = Desc();
    return desc_result;
  }
  HRESULT STDMETHODCALLTYPE Execute(UINT32 inputs, IWinMLTensor** input, UINT32 outputs,
                                    IWinMLTensor** output) override {
    ++executions;
    prebound = outputs > 0 && output[0] != nullptr;
    if (during_execute) {
      const HRESULT result = during_execute(input, output);
      if (result != S_FALSE) return result;
    }
    if (inputs == 0 || outputs == 0) return S_OK;
    std::vector<float> values = Contents<float>(input[0]);
    std::transform(values.begin(), values.end(), values.begin(), function_);
    if (!output[0]) output[0] = Float32(dims_, values).Detach();
    const ComPtr<IWinMLTensorDataLock> lock = LockOf(output[0], WINML_TENSOR_LOCK_MODE_WRITE);
    std::memcpy(DataOf(lock.Get()), values.data(), values.size() * sizeof(float));
    return S_OK;
  }

  WINML_TENSOR_DESC Desc() const {
    return {type, rank ? rank : static_cast<UINT32>(dims_.size()), null_dimensions ? nullptr : dims_.data()};
  }

  std::atomic<ULONG> references{1};
  int executions = 0;
  bool prebound = false;
  UINT32 input_count = 1;
  UINT32 output_count = 1;
  UINT32 rank = 0;
  bool null_dimensions = false;
  WINML_TENSOR_DATA_TYPE type = WINML_TENSOR_DATA_TYPE_FLOAT32;
  HRESULT count_result = S_OK;
  HRESULT desc_result = S_OK;
  // Replaces the function; S_FALSE goes on with it.
  std::function<HRESULT(IWinMLTensor** inputs, IWinMLTensor** outputs)> during_execute;

 protected:
  virtual ~AppProcessor() = default;

 private:
  std::vector<UINT64> dims_;
  std::function<float(float)> function_;
};

// One reference, held by the answer.
inline ComPtr<AppProcessor> NewProcessor(std::vector<UINT64> dims, std::function<float(float)> function) {
  ComPtr<AppProcessor> processor;
  processor.Attach(new AppProcessor(std::move(dims), std::move(function)));
  return processor;
}

// A builder, and the calls that tests repeat. Every handle is released with the fixture.
class PipelineTest : public testing::Test {
 protected:
  ComPtr<IWinMLStage> AddModel(const std::shared_ptr<FakeScript>& script, const wchar_t* name = nullptr) {
    ComPtr<IWinMLStage> stage;
    EXPECT_EQ(S_OK,
              builder_->AddModelStage(MakeModel(MakeFakeModel(script)).Get(), nullptr, name, stage.GetAddressOf()));
    return stage;
  }

  ComPtr<IWinMLStage> AddProcessor(const ComPtr<AppProcessor>& processor, const wchar_t* name = nullptr) {
    ComPtr<IWinMLStage> stage;
    EXPECT_EQ(S_OK, builder_->AddProcessorStage(processor.Get(), nullptr, name, stage.GetAddressOf()));
    return stage;
  }

  ComPtr<IWinMLPipeline> Build() {
    ComPtr<IWinMLPipeline> pipeline;
    EXPECT_EQ(S_OK, builder_->Build(pipeline.GetAddressOf())) << openwinml::LastErrorMessage();
    return pipeline;
  }

  // The code of a Build that must fail.
  HRESULT BuildFails() {
    ComPtr<IWinMLPipeline> pipeline;
    const HRESULT result = builder_->Build(pipeline.GetAddressOf());
    EXPECT_FALSE(pipeline);
    return result;
  }

  HRESULT Connect(IWinMLStage* source, UINT32 output, IWinMLStage* target, UINT32 input) {
    return builder_->Connect(source, output, target, input);
  }

  // Built from one stage whose output 0 is requested.
  ComPtr<IWinMLPipeline> BuildRequesting(IWinMLStage* stage) {
    EXPECT_EQ(S_OK, stage->RequestOutput(0));
    return Build();
  }

  static ComPtr<IWinMLTensor> Output(IWinMLStage* stage, UINT32 index = 0) {
    ComPtr<IWinMLTensor> tensor;
    EXPECT_EQ(S_OK, stage->GetOutput(index, tensor.GetAddressOf())) << openwinml::LastErrorMessage();
    return tensor;
  }

  static HRESULT GetOutput(IWinMLStage* stage, UINT32 index = 0) {
    ComPtr<IWinMLTensor> tensor;
    const HRESULT result = stage->GetOutput(index, tensor.GetAddressOf());
    EXPECT_EQ(SUCCEEDED(result), tensor != nullptr);
    return result;
  }

  ComPtr<IWinMLPipelineBuilder> builder_ = MakePipelineBuilder();
};

}  // namespace owml::test
