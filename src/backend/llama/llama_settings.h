// What a session of llama.cpp is built with: the stage's options, checked against what this backend can do and filled
// with defaults. Made by llama_model.cpp at Build, kept by the sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/session_options.h"

namespace owml {

// Numbers of the artifact that options are checked against.
struct LlamaModelFacts {
  std::string label;
  std::optional<uint64_t> declared_capacity;
  uint32_t prediction_layers = 0;  // built-in multi-token prediction
};

struct LlamaSettings {
  std::string device;  // name of a ggml device; empty = CPU
  uint64_t capacity = 0;
  uint32_t batch_size = 0;  // tokens of one llama_decode
  uint32_t threads = 0;
  KvCacheType cache_type = KvCacheType::kF16;
  uint32_t draft_limit = 0;
  std::string engine_reason;  // a clause
};

// llama.cpp verifies at most so many draft tokens in one step.
inline constexpr uint32_t kLlamaMaxDraftTokens = 16;

// Throws E_INVALIDARG or ERROR_NOT_SUPPORTED for an option that cannot be honoured; none is ignored.
LlamaSettings ResolveLlamaSettings(const SessionOptions& options, const LlamaModelFacts& facts);

// E_INVALIDARG for 0 and for more positions than llama.cpp can count.
void CheckLlamaCapacity(uint64_t capacity);

}  // namespace owml
