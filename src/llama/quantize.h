// Writing a GGUF model again with smaller tensor types, by llama.cpp's quantizer and its recipes.
// Called by the export OwmlQuantizeModel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace owml {

struct QuantizeRequest {
  std::filesystem::path input;   // or the first of its shards; the output is one file
  std::filesystem::path output;  // appears when it is complete
  std::string type;              // one of QuantizeTypes(), in any case
  bool requantize = false;       // also from a file whose tensors are quantized already
  bool keep_output_tensor = false;
  bool pure = false;  // every tensor gets the type itself instead of the recipe's mixture
  bool overwrite = false;
  uint32_t threads = 0;  // 0: as many as the process may use
};

// A tensor whose rows no block of the wanted type divides.
struct QuantizeFallback {
  std::string tensor;
  std::string wanted;
  std::string used;
};

struct QuantizeProgress {
  uint32_t done = 0;
  uint32_t total = 0;
  std::string tensor;
};

using QuantizeProgressSink = std::function<void(const QuantizeProgress&)>;
using QuantizeFallbackSink = std::function<void(const QuantizeFallback&)>;

// "Q4_K_M" and the like; null behind the last.
const char* QuantizeTypeName(size_t index);

// The sinks are called on the calling thread: before each tensor, and for each one that gets another type. Throws
// E_INVALIDARG for an unknown type, ERROR_FILE_EXISTS, ERROR_NOT_SUPPORTED for quantized tensors without `requantize`,
// ERROR_INVALID_DATA, the errors of the files.
void QuantizeGguf(const QuantizeRequest& request, const QuantizeProgressSink& progress,
                  const QuantizeFallbackSink& fallback);

}  // namespace owml
