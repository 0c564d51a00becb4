// Element types of weights that the kernels multiply, as they lie in files: blocks of a row and their sizes.
// Used by packing, by the kernel tables and by engines that read weights.
#pragma once

#include <cstddef>
#include <cstdint>

namespace owml::kernels {

enum class WeightType { kF32, kF16, kBF16, kQ8_0, kQ4_0, kQ4_1 };
inline constexpr size_t kWeightTypes = 6;

// Values of a quantized block, of weights and of activations alike.
inline constexpr size_t kBlock = 32;

constexpr bool IsQuantized(WeightType type) { return type >= WeightType::kQ8_0; }

// Values that are stored together; a row holds a whole number of such blocks.
constexpr size_t BlockValues(WeightType type) { return IsQuantized(type) ? kBlock : 1; }

constexpr size_t BlockBytes(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return 4;
    case WeightType::kF16:
    case WeightType::kBF16:
      return 2;
    case WeightType::kQ8_0:
      return 2 + 32;  // half scale, int8 values
    case WeightType::kQ4_0:
      return 2 + 16;  // half scale, nibbles: values 0 to 15 low, 16 to 31 high
    case WeightType::kQ4_1:
      return 4 + 16;  // half scale, half minimum, nibbles
  }
  return 0;
}

constexpr size_t RowBytes(WeightType type, size_t columns) { return columns / BlockValues(type) * BlockBytes(type); }

// One row as it lies in a file, to floats. `columns` is a multiple of BlockValues.
void DequantizeRow(WeightType type, const std::byte* row, size_t columns, float* out);

}  // namespace owml::kernels
