// Rows of weights to floats, one value at a time.
// For embeddings, where a token needs one row, and for tests.
#include "kernels/weight_type.h"

#include <cstring>

#include "base/half.h"
#include "kernels/quant_block.h"

namespace owml::kernels {
namespace {

template <class T>
T LoadValue(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

float BfloatToFloat(uint16_t bfloat) {
  const uint32_t bits = uint32_t{bfloat} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Products of scales are exact, so each value is rounded once.
void DequantizeBlock(WeightType type, const std::byte* block, float* out) {
  const QuantForm form = FormOf(type);
  QuantBlock q;
  Unpack(type, block, &q);
  const float scale = form.bfloat_scale ? BfloatToFloat(q.scale) : HalfToFloat(q.scale);
  const float minimum = form.minimum ? HalfToFloat(q.minimum) : 0.0f;
  for (size_t i = 0; i < form.values; ++i) {
    const size_t sub = i / form.sub;
    const int whole = (form.codebook() ? CodebookOf(type)[q.quants[i]] : q.quants[i]) - form.offset;
    const float factor = form.scales ? scale * static_cast<float>(q.scales[sub]) : scale;
    out[i] = factor * static_cast<float>(whole);
    if (form.minimum) out[i] += form.scales ? minimum * static_cast<float>(q.minima[sub]) : minimum;
  }
}

}  // namespace

void DequantizeRow(WeightType type, const std::byte* row, size_t columns, float* out) {
  switch (type) {
    case WeightType::kF32:
      std::memcpy(out, row, columns * sizeof(float));
      return;
    case WeightType::kF16:
      for (size_t i = 0; i < columns; ++i) out[i] = HalfToFloat(LoadValue<uint16_t>(row + 2 * i));
      return;
    case WeightType::kBF16:
      for (size_t i = 0; i < columns; ++i) out[i] = BfloatToFloat(LoadValue<uint16_t>(row + 2 * i));
      return;
    default:
      break;
  }
  const size_t values = BlockValues(type);
  for (size_t i = 0; i < columns; i += values, row += BlockBytes(type)) DequantizeBlock(type, row, out + i);
}

}  // namespace owml::kernels
