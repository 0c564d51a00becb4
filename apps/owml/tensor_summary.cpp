// Reads elements one by one as doubles.
// 64-bit integers beyond 2^53 lose their last digits, which a summary can bear.
#include "tensor_summary.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "bfloat16.h"

namespace owml::cli {
namespace {

double ElementAt(DType dtype, const std::byte* data, uint64_t index) {
  auto get = [&](auto zero) {
    std::memcpy(&zero, data + index * sizeof zero, sizeof zero);
    return zero;
  };
  switch (dtype) {
    case DType::kFloat32:
      return get(0.0f);
    case DType::kFloat64:
      return get(0.0);
    case DType::kFloat16:
      return HalfToFloat(get(uint16_t{0}));
    case DType::kBFloat16:
      return BFloat16ToFloat(get(uint16_t{0}));
    case DType::kInt8:
      return get(int8_t{0});
    case DType::kInt16:
      return get(int16_t{0});
    case DType::kUInt16:
      return get(uint16_t{0});
    case DType::kInt32:
      return get(int32_t{0});
    case DType::kUInt32:
      return get(uint32_t{0});
    case DType::kInt64:
      return static_cast<double>(get(int64_t{0}));
    case DType::kUInt64:
      return static_cast<double>(get(uint64_t{0}));
    case DType::kInt4:
    case DType::kUInt4: {
      const int byte = static_cast<int>(data[index / 2]);
      const int nibble = index % 2 ? byte >> 4 : byte & 15;
      return dtype == DType::kInt4 && nibble > 7 ? nibble - 16 : nibble;
    }
    default:
      return get(uint8_t{0});
  }
}

}  // namespace

TensorSummary Summarise(DType dtype, const Dims& dims, const std::byte* data) {
  constexpr uint64_t kFirst = 6;
  TensorSummary summary;
  const uint64_t count = ElementCount(dims).value_or(0);
  uint64_t finite = 0;
  double sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double value = ElementAt(dtype, data, i);
    if (i < kFirst) summary.first.push_back(value);
    if (!std::isfinite(value)) {
      ++summary.not_finite;
      continue;
    }
    summary.minimum = finite ? std::min(summary.minimum, value) : value;
    summary.maximum = finite ? std::max(summary.maximum, value) : value;
    sum += value;
    ++finite;
  }
  summary.mean = finite ? sum / static_cast<double>(finite) : 0;
  return summary;
}

}  // namespace owml::cli
