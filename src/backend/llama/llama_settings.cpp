// Options of a stage turned into settings of llama.cpp.
// Called at Build, before weights are loaded.
#include "backend/llama/llama_settings.h"

#include <algorithm>

#include "base/cpu_info.h"
#include "base/error.h"
#include "base/log.h"

namespace owml {
namespace {

constexpr uint64_t kDefaultCapacity = 8192;
constexpr uint64_t kMaxCapacity = uint64_t{1} << 30;  // positions are int32 inside, and rounded up
constexpr uint32_t kDefaultBatch = 2048;
constexpr uint32_t kMaxBatch = 65536;
constexpr uint32_t kMaxThreads = 512;  // GGML_MAX_N_THREADS

[[noreturn]] void NotSupported(const std::string& sentence) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), sentence);
}

void Require(bool condition, const std::string& sentence) {
  if (!condition) throw Error(E_INVALIDARG, sentence);
}

void CheckPlacement(const SessionOptions& options) {
  if (!options.provider.empty()) {
    NotSupported("the execution provider '" + options.provider +
                 "' is one of ONNX Runtime; a GGUF model runs on llama.cpp");
  }
  if (options.device == DeviceKind::kNpu) NotSupported("llama.cpp has no NPU target");
  if (options.engine == Engine::kNative) NotSupported("the model was loaded for llama.cpp, not for the native engine");
}

void CheckForeignOptions(const SessionOptions& options) {
  const std::string end = " has no meaning for a GGUF model; it belongs to ONNX Runtime";
  if (!options.session_config.empty())
    NotSupported("the session entry '" + options.session_config[0].first + "'" + end);
  if (!options.provider_options.empty())
    NotSupported("the provider option '" + options.provider_options[0].first + "'" + end);
  if (!options.dimension_overrides.empty()) {
    NotSupported("the dimension override '" + options.dimension_overrides[0].first + "'" + end);
  }
  if (options.optimization_level != OptimizationLevel::kDefault) NotSupported("an optimization level" + end);
  if (options.inter_op_threads != 0) NotSupported("a number of inter-op threads" + end);
}

void CheckStateOptions(const SessionOptions& options) {
  if (options.caller_owns_state)
    NotSupported("the state of a GGUF stage cannot be owned by the caller: it is inside llama.cpp");
  Require(options.state_pairs.empty(), "a GGUF stage has no state tensors, so no state pair can be declared");
}

void CheckDraftOptions(const SessionOptions& options, const LlamaModelFacts& facts) {
  const bool path = !options.draft_predictor_path.empty();
  Require(!options.draft_predictor_enabled || options.draft_token_limit > 0,
          "the draft predictor is enabled, but the draft token limit is 0");
  Require(!path || options.draft_predictor_enabled,
          "a draft predictor path is set, but the draft predictor is not enabled");
  if (path)
    NotSupported("companion draft predictors ('" + options.draft_predictor_path.string() + "') cannot be run yet");
  if (options.draft_predictor_enabled && facts.prediction_layers > 0) {
    NotSupported(facts.label + " has " + std::to_string(facts.prediction_layers) +
                 " prediction layers, which cannot be run yet; leave the draft predictor disabled");
  }
}

uint64_t Capacity(const SessionOptions& options, const LlamaModelFacts& facts) {
  const uint64_t hint = options.sequence_capacity_hint;
  // Spec-open: the default below the declared window, and what a larger hint means.
  if (hint == 0) return std::min(facts.declared_capacity.value_or(kDefaultCapacity), kDefaultCapacity);
  CheckLlamaCapacity(hint);
  if (facts.declared_capacity && hint > *facts.declared_capacity) {
    Log(OWML_LOG_LEVEL_WARNING, "llama",
        facts.label + " declares a context of " + std::to_string(*facts.declared_capacity) + " tokens; " +
            std::to_string(hint) + " were asked for, and text beyond the declared length may be poor");
  }
  return hint;
}

}  // namespace

void CheckLlamaCapacity(uint64_t capacity) {
  Require(capacity > 0 && capacity <= kMaxCapacity, "a sequence capacity of " + std::to_string(capacity) +
                                                        " tokens is outside 1 to " + std::to_string(kMaxCapacity));
}

LlamaSettings ResolveLlamaSettings(const SessionOptions& options, const LlamaModelFacts& facts) {
  CheckPlacement(options);
  CheckForeignOptions(options);
  CheckStateOptions(options);
  CheckDraftOptions(options, facts);

  LlamaSettings settings;
  settings.capacity = Capacity(options, facts);
  Require(options.batch_size <= kMaxBatch,
          "a batch of " + std::to_string(options.batch_size) + " tokens is more than " + std::to_string(kMaxBatch));
  settings.batch_size = options.batch_size ? options.batch_size : kDefaultBatch;
  Require(options.intra_op_threads <= kMaxThreads,
          std::to_string(options.intra_op_threads) + " threads are more than " + std::to_string(kMaxThreads));
  settings.threads = options.intra_op_threads ? options.intra_op_threads : std::min(UsableCpuCount(), kMaxThreads);
  settings.cache_type = options.kv_cache_type == KvCacheType::kDefault ? KvCacheType::kF16 : options.kv_cache_type;
  settings.draft_limit = std::min(options.draft_token_limit, kLlamaMaxDraftTokens);
  settings.engine_reason = options.engine_reason.empty() ? "it was asked for" : options.engine_reason;
  return settings;
}

}  // namespace owml
