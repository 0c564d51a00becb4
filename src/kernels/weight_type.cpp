// Rows of weights to floats, one value at a time.
// For embeddings, where a token needs one row, and for tests.
#include "kernels/weight_type.h"

#include <cstring>

#include "base/half.h"

namespace owml::kernels {
namespace {

template <class T>
T LoadValue(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

float LoadScale(const std::byte* at) { return HalfToFloat(LoadValue<uint16_t>(at)); }

void DequantizeNibbles(const std::byte* nibbles, float scale, float offset, float* out) {
  for (size_t i = 0; i < kBlock / 2; ++i) {
    const auto pair = std::to_integer<unsigned>(nibbles[i]);
    out[i] = scale * static_cast<float>(pair & 15) + offset;
    out[i + kBlock / 2] = scale * static_cast<float>(pair >> 4) + offset;
  }
}

}  // namespace

void DequantizeRow(WeightType type, const std::byte* row, size_t columns, float* out) {
  switch (type) {
    case WeightType::kF32:
      std::memcpy(out, row, columns * sizeof(float));
      return;
    case WeightType::kF16:
      for (size_t i = 0; i < columns; ++i) out[i] = LoadScale(row + 2 * i);
      return;
    case WeightType::kBF16:
      for (size_t i = 0; i < columns; ++i) {
        const uint32_t bits = uint32_t{LoadValue<uint16_t>(row + 2 * i)} << 16;
        std::memcpy(&out[i], &bits, sizeof(bits));
      }
      return;
    case WeightType::kQ8_0:
      for (size_t block = 0; block < columns / kBlock; ++block, row += BlockBytes(type), out += kBlock) {
        const float scale = LoadScale(row);
        for (size_t i = 0; i < kBlock; ++i) out[i] = scale * static_cast<float>(LoadValue<int8_t>(row + 2 + i));
      }
      return;
    case WeightType::kQ4_0:
      for (size_t block = 0; block < columns / kBlock; ++block, row += BlockBytes(type), out += kBlock) {
        const float scale = LoadScale(row);
        DequantizeNibbles(row + 2, scale, -8 * scale, out);
      }
      return;
    case WeightType::kQ4_1:
      for (size_t block = 0; block < columns / kBlock; ++block, row += BlockBytes(type), out += kBlock) {
        DequantizeNibbles(row + 4, LoadScale(row), LoadScale(row + 2), out);
      }
      return;
  }
}

}  // namespace owml::kernels
