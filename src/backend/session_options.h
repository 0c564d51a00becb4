// What a stage asks of a backend before Build, and what it got.
// Written by the runtime's stage option objects, read by backends; numbers equal the public enums.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace owml {

enum class DeviceKind : int32_t { kCpu = 1, kGpu = 2, kNpu = 3 };    // WINML_EXECUTION_TARGET_KIND
enum class Engine : int32_t { kAuto = 0, kLlama = 1, kNative = 2 };  // OWML_ENGINE
enum class KvCacheType : int32_t { kDefault = 0, kF16 = 1, kBF16 = 2, kQ8_0 = 3, kF32 = 4 };  // OWML_KV_CACHE_TYPE
enum class OptimizationLevel : int32_t { kDefault = 0, kDisabled = 1, kBasic = 2, kExtended = 3, kAll = 4 };

// Input `input` of the next run takes what output `output` of the last one left.
struct StatePair {
  uint32_t input = 0;
  uint32_t output = 0;
};

struct SessionOptions {
  // Placement. `device_id` names one Device of the backend, `provider` an ONNX Runtime execution provider; both empty
  // when open.
  DeviceKind device = DeviceKind::kCpu;
  std::string device_id;
  std::string provider;

  // Ours (openwinml/stage_options.h); 0 or kDefault leaves the choice to the backend.
  uint32_t intra_op_threads = 0;
  uint32_t inter_op_threads = 0;
  Engine engine = Engine::kAuto;
  KvCacheType kv_cache_type = KvCacheType::kDefault;
  uint32_t batch_size = 0;
  OptimizationLevel optimization_level = OptimizationLevel::kDefault;

  // Why a GGUF model runs on the engine that gets these options: a clause for its report.
  std::string engine_reason;

  // Sequence state (IWinMLStatefulStageOptions).
  uint64_t sequence_capacity_hint = 0;  // positions; 0 = no hint
  bool caller_owns_state = false;
  std::vector<StatePair> state_pairs;
  uint32_t draft_token_limit = 0;
  bool draft_predictor_enabled = false;
  std::filesystem::path draft_predictor_path;

  // ONNX: extents for symbolic dimensions, session configuration entries, provider options; in the order set.
  std::vector<std::pair<std::string, int64_t>> dimension_overrides;
  std::vector<std::pair<std::string, std::string>> session_config;
  std::vector<std::pair<std::string, std::string>> provider_options;

  // Outputs that the caller had bound or requested when Build began, by ordinal.
  std::vector<bool> published_outputs;
};

// The values in effect; 0 or kDefault where a value has no meaning for the backend.
struct SessionReport {
  std::string engine;         // "onnxruntime 1.32.0", "llama.cpp", ...
  std::string engine_reason;  // one sentence: why this engine
  DeviceKind device = DeviceKind::kCpu;
  std::string provider;  // one representative execution provider, or empty
  uint32_t intra_op_threads = 0;
  uint32_t inter_op_threads = 0;
  Engine engine_kind = Engine::kAuto;
  KvCacheType kv_cache_type = KvCacheType::kDefault;
  uint32_t batch_size = 0;
  OptimizationLevel optimization_level = OptimizationLevel::kDefault;
};

}  // namespace owml
