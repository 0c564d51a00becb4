// A one-stage pipeline over the public API, as `run`, `generate`, `chat` and `bench` use it.
// Loads, places on the CPU or a GPU, sets stage options, builds.
#pragma once

#include <WinMLRuntime.h>
#include <WinMLTensorFactory.h>
#include <openwinml/stage_options.h>
#include <wrl/client.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace owml::cli {

using Microsoft::WRL::ComPtr;

struct StageSettings {
  uint32_t threads = 0;     // 0 = as many as the process may use
  uint64_t capacity = 0;    // positions; 0 = the backend's default
  uint32_t batch_size = 0;  // 0 = the backend's default
  OWML_ENGINE engine = OWML_ENGINE_AUTO;
  OWML_KV_CACHE_TYPE kv_cache = OWML_KV_CACHE_TYPE_DEFAULT;
  bool gpu = false;  // else the CPU
  std::vector<std::pair<std::string, int64_t>> dimensions;
};

class ModelSession {
 public:
  // Throws Failure. Shows a waiting line when loading takes long.
  ModelSession(const std::string& path, const StageSettings& settings);

  IWinMLRuntime* runtime() const { return runtime_.Get(); }
  IWinMLModel* model() const { return model_.Get(); }
  IWinMLStage* stage() const { return stage_.Get(); }
  IWinMLPipeline* pipeline() const { return pipeline_.Get(); }
  IWinMLExecutionTarget* target() const { return target_.Get(); }
  IWinMLRawTensorFactory* tensors() const { return tensors_.Get(); }
  IOwmlStageOptions* options() const { return options_.Get(); }
  IWinMLStatefulStage* state() const { return state_.Get(); }

  ComPtr<IWinMLTensor> MakeTensor(DType dtype, const Dims& dims, const void* data, uint64_t bytes) const;
  void Run() const;
  void Reset() const;

  // The engine that took the file and why, for people.
  std::string EngineText() const;

 private:
  ComPtr<IWinMLRuntime> runtime_;
  ComPtr<IWinMLModel> model_;
  ComPtr<IWinMLExecutionTarget> target_;
  ComPtr<IWinMLRawTensorFactory> tensors_;
  ComPtr<IWinMLStage> stage_;
  ComPtr<IOwmlStageOptions> options_;
  ComPtr<IWinMLStatefulStage> state_;
  ComPtr<IWinMLPipeline> pipeline_;
};

// A read lock on a tensor and its bytes.
class ReadLock {
 public:
  explicit ReadLock(IWinMLTensor* tensor);
  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  const std::byte* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  ComPtr<IWinMLTensorDataLock> lock_;
  DType dtype_ = DType::kUndefined;
  Dims dims_;
  const std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace owml::cli
