// Element types of weights that the kernels multiply, as they lie in files: blocks of a row and their sizes.
// Used by packing, by the kernel tables and by engines that read weights.
#pragma once

#include <cstddef>
#include <cstdint>

namespace owml::kernels {

enum class WeightType {
  kF32,
  kF16,
  kBF16,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kMXFP4,
};
inline constexpr size_t kWeightTypes = 15;

// Activations are quantized in blocks of so many values; quantized weights have a scale for as many or fewer.
inline constexpr size_t kBlock = 32;

// Values of the longest block of a file.
inline constexpr size_t kMaxBlockValues = 256;

constexpr bool IsQuantized(WeightType type) { return type >= WeightType::kQ8_0; }

// Values that are stored together; a row holds a whole number of such blocks.
constexpr size_t BlockValues(WeightType type) {
  if (!IsQuantized(type)) return 1;
  return type >= WeightType::kQ2_K && type <= WeightType::kQ6_K ? kMaxBlockValues : kBlock;
}

constexpr size_t BlockBytes(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return 4;
    case WeightType::kF16:
    case WeightType::kBF16:
      return 2;
    case WeightType::kQ8_0:
      return 2 + 32;
    case WeightType::kQ4_0:
    case WeightType::kIQ4_NL:
      return 2 + 16;
    case WeightType::kQ4_1:
      return 4 + 16;
    case WeightType::kQ5_0:
      return 2 + 4 + 16;
    case WeightType::kQ5_1:
      return 4 + 4 + 16;
    case WeightType::kQ2_K:
      return 16 + 64 + 4;
    case WeightType::kQ3_K:
      return 32 + 64 + 12 + 2;
    case WeightType::kQ4_K:
      return 4 + 12 + 128;
    case WeightType::kQ5_K:
      return 4 + 12 + 32 + 128;
    case WeightType::kQ6_K:
      return 128 + 64 + 16 + 2;
    case WeightType::kMXFP4:
      return 1 + 16;
  }
  return 0;
}

constexpr size_t RowBytes(WeightType type, size_t columns) { return columns / BlockValues(type) * BlockBytes(type); }

// One row as it lies in a file, to floats. `columns` is a multiple of BlockValues.
void DequantizeRow(WeightType type, const std::byte* row, size_t columns, float* out);

}  // namespace owml::kernels
