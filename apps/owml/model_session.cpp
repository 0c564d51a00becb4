// Building the one-stage pipeline.
// Every step reports the runtime's own sentence on failure.
#include "model_session.h"

#include <filesystem>
#include <openwinml/strings.hpp>

#include "failure.h"
#include "terminal.h"

namespace owml::cli {

ModelSession::ModelSession(const std::string& path, const StageSettings& settings) {
  Check(WinMLCreateRuntime(IID_PPV_ARGS(runtime_.GetAddressOf())), "creating the runtime");
  Check(runtime_->CreateCpuExecutionTarget(target_.GetAddressOf()), "creating the CPU target");
  Check(target_.As(&tensors_), "asking for the tensor factory");
  ComPtr<IWinMLExecutionTarget> gpu;
  if (settings.gpu) {
    Check(runtime_->CreateExecutionTarget(WINML_EXECUTION_TARGET_KIND_GPU, WINML_EXECUTION_TARGET_PREFERENCE_DEFAULT,
                                          gpu.GetAddressOf()),
          "creating a GPU target");
  }
  const std::string name = std::filesystem::path(path).filename().string();
  WithWaiting("loading " + name, [&] {
    Check(runtime_->LoadModelFromFile(openwinml::ToWide(path).c_str(), nullptr, model_.GetAddressOf()),
          "loading the model");
    ComPtr<IWinMLPipelineBuilder> builder;
    Check(runtime_->CreatePipelineBuilder(builder.GetAddressOf()), "creating a pipeline builder");
    Check(builder->AddModelStage(model_.Get(), gpu ? gpu.Get() : target_.Get(), openwinml::ToWide(name).c_str(),
                                 stage_.GetAddressOf()),
          "adding the model");
    Check(stage_.As(&options_), "asking for stage options");
    if (settings.threads) Check(options_->SetIntraOpThreadCount(settings.threads), "setting the thread count");
    if (settings.batch_size) Check(options_->SetBatchSize(settings.batch_size), "setting the batch size");
    if (settings.engine != OWML_ENGINE_AUTO) Check(options_->SetEngine(settings.engine), "choosing the engine");
    if (settings.kv_cache != OWML_KV_CACHE_TYPE_DEFAULT) {
      Check(options_->SetKvCacheType(settings.kv_cache), "choosing the type of the cache");
    }
    ComPtr<IWinMLStatefulStageOptions> stateful;
    if (settings.capacity) {
      Check(stage_.As(&stateful), "asking for sequence options");
      Check(stateful->SetSequenceCapacityHint(settings.capacity), "setting the context length");
    }
    if (!settings.dimensions.empty()) {
      ComPtr<IWinMLOnnxSymbolicDimensionOverrides> overrides;
      if (FAILED(stage_.As(&overrides))) UsageError("--dim applies to ONNX models only");
      for (const auto& [dimension, extent] : settings.dimensions) {
        Check(overrides->SetOverride(openwinml::ToWide(dimension).c_str(), extent), "setting --dim " + dimension);
      }
    }
    Check(builder->Build(pipeline_.GetAddressOf()), "building the pipeline");
  });
  stage_.As(&state_);
}

ComPtr<IWinMLTensor> ModelSession::MakeTensor(DType dtype, const Dims& dims, const void* data, uint64_t bytes) const {
  const WINML_TENSOR_DESC desc = {static_cast<WINML_TENSOR_DATA_TYPE>(dtype), static_cast<UINT32>(dims.size()),
                                  dims.data()};
  ComPtr<IWinMLTensor> tensor;
  Check(tensors_->CreateTensor(&desc, data, bytes, tensor.GetAddressOf()), "creating a tensor");
  return tensor;
}

void ModelSession::Run() const { Check(pipeline_->Run(), "running the model"); }

void ModelSession::Reset() const { Check(pipeline_->ResetExecutionState(), "resetting the model"); }

std::string ModelSession::EngineText() const {
  LPCWSTR reason = nullptr;
  if (FAILED(options_->GetEngineReason(&reason)) || !reason) return {};
  return openwinml::ToUtf8(reason);
}

ReadLock::ReadLock(IWinMLTensor* tensor) {
  WINML_TENSOR_DESC desc = {};
  Check(tensor->GetDesc(&desc), "describing a tensor");
  dtype_ = static_cast<DType>(desc.dataType);
  dims_.assign(desc.dimensions, desc.dimensions + desc.dimensionCount);
  Check(tensor->Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE, lock_.GetAddressOf()),
        "reading a tensor");
  BYTE* data = nullptr;
  Check(lock_->GetData(&data, &size_), "reading a tensor");
  data_ = reinterpret_cast<const std::byte*>(data);
}

}  // namespace owml::cli
