// What a session of the native engine is built with: the stage's options, checked against what the engine can do and
// filled with defaults. Made by native_model.cpp at Build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/session_options.h"

namespace owml::native {

// Most draft tokens that one step verifies.
inline constexpr uint32_t kMaxDraftTokens = 16;

// Most of the highest logits that a session gives without the others.
inline constexpr uint32_t kMaxBestTokens = 64;

struct NativeSettings {
  uint64_t capacity = 0;
  uint32_t batch_size = 0;
  uint32_t threads = 0;
  bool pin_threads = false;  // OWML_PIN_THREADS
  std::string gpu;           // the id of a GPU, or empty for the CPU
  uint32_t draft_limit = 0;
  KvCacheType cache_type = KvCacheType::kDefault;
  std::string engine_reason;  // a clause
};

// What a model's file says about its sessions.
struct ModelFacts {
  std::string label;
  std::optional<uint64_t> capacity;  // the context that it declares
  KvCacheType cache_type = KvCacheType::kF16;
};

// Throws E_INVALIDARG or ERROR_NOT_SUPPORTED for an option that cannot be honoured; none is ignored.
NativeSettings ResolveNativeSettings(const SessionOptions& options, const ModelFacts& model);

// E_INVALIDARG for 0 and for more positions than are counted.
void CheckNativeCapacity(uint64_t capacity);

}  // namespace owml::native
