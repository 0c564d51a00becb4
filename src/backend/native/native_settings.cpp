// Options of a stage turned into settings of the native engine.
// Called at Build, before weights are packed.
#include "backend/native/native_settings.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "backend/native/device/cuda/cuda_devices.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "base/log.h"

namespace owml::native {
namespace {

constexpr uint64_t kDefaultCapacity = 8192;
constexpr uint64_t kMaxCapacity = uint64_t{1} << 30;
constexpr uint32_t kDefaultBatch = 512;
constexpr uint32_t kMaxBatch = 65536;
constexpr uint32_t kMaxThreads = 512;

[[noreturn]] void NotSupported(const std::string& sentence) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), sentence);
}

void Require(bool condition, const std::string& sentence) {
  if (!condition) throw Error(E_INVALIDARG, sentence);
}

void CheckPlacement(const SessionOptions& options) {
  if (!options.provider.empty()) {
    NotSupported("the execution provider '" + options.provider +
                 "' is one of ONNX Runtime; a GGUF model does not use it");
  }
  if (options.device == DeviceKind::kNpu) NotSupported("the native engine has no NPU target");
  if (options.engine == Engine::kLlama) NotSupported("the model was loaded for the native engine, not for llama.cpp");
}

// The GPU that the stage is placed on; empty for the CPU.
std::string Gpu(const SessionOptions& options) {
  if (options.device != DeviceKind::kGpu) return {};
  if (CudaDevices().empty()) NotSupported("the native engine runs on the CPU only: " + WhyNoCudaDevice());
  const owml::Device* device = FindCudaDevice(options.device_id);
  if (!device) NotSupported("the native engine does not have the device '" + options.device_id + "'");
  if (options.intra_op_threads > 1) {
    Log(OWML_LOG_LEVEL_WARNING, "native",
        std::to_string(options.intra_op_threads) + " threads were asked for; one starts the work of " + device->id);
  }
  return device->id;
}

void CheckForeignOptions(const SessionOptions& options) {
  const std::string end = " has no meaning for a GGUF model; it belongs to ONNX Runtime";
  if (!options.session_config.empty())
    NotSupported("the session entry '" + options.session_config[0].first + "'" + end);
  if (!options.provider_options.empty())
    NotSupported("the provider option '" + options.provider_options[0].first + "'" + end);
  if (!options.dimension_overrides.empty())
    NotSupported("the dimension override '" + options.dimension_overrides[0].first + "'" + end);
  if (options.optimization_level != OptimizationLevel::kDefault) NotSupported("an optimization level" + end);
  if (options.inter_op_threads != 0) NotSupported("a number of inter-op threads" + end);
}

void CheckStateOptions(const SessionOptions& options) {
  if (options.caller_owns_state) NotSupported("the state of a GGUF stage cannot be owned by the caller");
  Require(options.state_pairs.empty(), "a GGUF stage has no state tensors, so no state pair can be declared");
  if (options.kv_cache_type == KvCacheType::kF32) {
    NotSupported("the native engine keeps its cache in float16, bfloat16 or 8 bits, not in float32");
  }
}

void CheckDraftOptions(const SessionOptions& options) {
  const bool path = !options.draft_predictor_path.empty();
  Require(!options.draft_predictor_enabled || options.draft_token_limit > 0,
          "the draft predictor is enabled, but the draft token limit is 0");
  Require(!path || options.draft_predictor_enabled,
          "a draft predictor path is set, but the draft predictor is not enabled");
  if (path) NotSupported("companion draft predictors ('" + options.draft_predictor_path.string() + "') cannot be run");
}

uint64_t Capacity(uint64_t hint, const ModelFacts& model) {
  // Spec-open: the default below the declared window, and what a larger hint means.
  if (hint == 0) return std::min(model.capacity.value_or(kDefaultCapacity), kDefaultCapacity);
  CheckNativeCapacity(hint);
  if (model.capacity && hint > *model.capacity) {
    Log(OWML_LOG_LEVEL_WARNING, "native",
        model.label + " declares a context of " + std::to_string(*model.capacity) + " tokens; " + std::to_string(hint) +
            " were asked for, and text beyond the declared length may be poor");
  }
  return hint;
}

uint32_t Threads(uint32_t asked) {
  const uint32_t usable = std::min(UsableCpuCount(), kMaxThreads);
  Require(asked <= kMaxThreads, std::to_string(asked) + " threads are more than " + std::to_string(kMaxThreads));
  if (asked > usable) {
    // More threads than processors only take turns; the report tells the number in effect.
    Log(OWML_LOG_LEVEL_WARNING, "native",
        std::to_string(asked) + " threads were asked for; the process may use " + std::to_string(usable) +
            " processors, so that many are started");
  }
  return asked == 0 ? usable : std::min(asked, usable);
}

bool PinThreads() {
  const char* text = std::getenv("OWML_PIN_THREADS");
  const std::string_view value = text ? text : "";
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  Log(OWML_LOG_LEVEL_WARNING, "native",
      "OWML_PIN_THREADS is '" + std::string(value) + "', which is neither 0 nor 1; threads are not pinned");
  return false;
}

}  // namespace

void CheckNativeCapacity(uint64_t capacity) {
  Require(capacity > 0 && capacity <= kMaxCapacity, "a sequence capacity of " + std::to_string(capacity) +
                                                        " tokens is outside 1 to " + std::to_string(kMaxCapacity));
}

NativeSettings ResolveNativeSettings(const SessionOptions& options, const ModelFacts& model) {
  CheckPlacement(options);
  CheckForeignOptions(options);
  CheckStateOptions(options);
  CheckDraftOptions(options);

  NativeSettings settings;
  settings.capacity = Capacity(options.sequence_capacity_hint, model);
  Require(options.batch_size <= kMaxBatch,
          "a batch of " + std::to_string(options.batch_size) + " tokens is more than " + std::to_string(kMaxBatch));
  settings.batch_size = options.batch_size ? options.batch_size : kDefaultBatch;
  settings.gpu = Gpu(options);
  settings.threads = Threads(settings.gpu.empty() ? options.intra_op_threads : 0);
  settings.pin_threads = PinThreads();
  settings.draft_limit = std::min(options.draft_token_limit, kMaxDraftTokens);
  settings.cache_type = options.kv_cache_type == KvCacheType::kDefault ? model.cache_type : options.kv_cache_type;
  settings.engine_reason = options.engine_reason.empty() ? "it was asked for" : options.engine_reason;
  return settings;
}

}  // namespace owml::native
