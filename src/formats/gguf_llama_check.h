// What llama.cpp takes for granted about a GGUF model and would abort, divide by zero or run wild on: checked before it
// opens the file. Called by everything that hands files to llama.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "formats/gguf.h"

namespace owml {

// Sizes of fixed arrays inside llama.cpp.
inline constexpr uint32_t kLlamaMaxLayers = 512;
inline constexpr uint32_t kLlamaMaxExperts = 1024;

// The whole model: `files[0]` holds the metadata, the others (shards) further tensors.
// Throws ERROR_INVALID_DATA naming file, key or tensor, and value.
void CheckModelForLlama(std::span<const GgufFile> files);

}  // namespace owml
