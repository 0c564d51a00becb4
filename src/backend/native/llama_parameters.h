// The numbers of a model of the Llama family, from the metadata of its file.
// Read at load by native_model.cpp; whatever this engine would not honour is refused here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/gguf.h"

namespace owml::native {

struct LlamaParameters {
  std::string label;  // of the file, for messages
  uint32_t layers = 0;
  uint32_t width = 0;  // D
  uint32_t heads = 0;  // H
  uint32_t kv_heads = 0;
  uint32_t head_width = 0;    // d
  uint32_t feed_forward = 0;  // F
  uint32_t rotated = 0;       // of head_width, even
  uint64_t vocabulary = 0;
  float epsilon = 0;
  double rope_base = 10000;
  double rope_scale = 1;  // positions are divided by it
  std::optional<uint64_t> context;

  uint32_t query_width() const { return heads * head_width; }
  uint32_t kv_width() const { return kv_heads * head_width; }
  uint32_t group() const { return heads / kv_heads; }
};

// Throws ERROR_NOT_SUPPORTED for another architecture or a feature that is not built, ERROR_INVALID_DATA for numbers
// that cannot be.
LlamaParameters ReadLlamaParameters(const GgufFile& file);

}  // namespace owml::native
