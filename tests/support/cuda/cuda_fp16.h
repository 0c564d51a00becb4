// Conversions of halves, for kernels that an ordinary compiler builds.
// See cuda_runtime.h.
#pragma once

#include "base/half.h"
#include "support/cuda/cuda_runtime.h"

struct __half {
  uint16_t bits;
};
inline __half __ushort_as_half(uint16_t bits) { return {bits}; }
inline uint16_t __half_as_ushort(__half half) { return half.bits; }
inline float __half2float(__half half) { return owml::HalfToFloat(half.bits); }
inline __half __float2half_rn(float x) { return {owml::FloatToHalf(x)}; }
