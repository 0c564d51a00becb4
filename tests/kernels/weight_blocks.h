// The scales in blocks of weights as files hold them.
// Used by whatever makes random weights: tests of kernels and of the engine, seeds of the fuzz corpus.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "kernels/weight_type.h"

namespace owml::test {

// Where the scale and the minimum of a block are in a file, in halves; a byte that is a power of two for MXFP4.
inline std::vector<size_t> ScalePlaces(kernels::WeightType type) {
  using kernels::WeightType;
  switch (type) {
    case WeightType::kF32:
    case WeightType::kBF16:
      return {};
    case WeightType::kQ4_1:
    case WeightType::kQ5_1:
    case WeightType::kQ4_K:
    case WeightType::kQ5_K:
      return {0, 2};
    case WeightType::kQ2_K:
      return {80, 82};
    case WeightType::kQ3_K:
      return {108};
    case WeightType::kQ6_K:
      return {208};
    default:
      return {0};
  }
}

inline void SetScale(kernels::WeightType type, std::byte* block, size_t place, float value) {
  if (type == kernels::WeightType::kMXFP4) {
    int exponent = 0;
    std::frexp(value, &exponent);
    block[place] = static_cast<std::byte>(127 + exponent);
    return;
  }
  const uint16_t half = FloatToHalf(value);
  std::memcpy(block + place, &half, sizeof(half));
}

}  // namespace owml::test
