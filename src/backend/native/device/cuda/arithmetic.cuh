// Functions of single numbers and of warps that the kernels share: exp, halves, sums in a fixed order, blocks of eight
// bits. Included by the .cu files only. The formulas are those of the CPU's kernels (src/kernels).
#pragma once

#include <cuda_fp16.h>

#include <cstdint>

#include "backend/native/device/cuda/launch.cuh"
#include "kernels/kernels.h"

namespace owml::native {

__device__ inline float FromHalf(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }
__device__ inline uint16_t ToHalf(float x) { return __half_as_ushort(__float2half_rn(x)); }
__device__ inline float FromBfloat(uint16_t bits) { return __uint_as_float(static_cast<uint32_t>(bits) << 16); }

// Rounded to nearest, ties to even; NaN stays NaN.
__device__ inline uint16_t ToBfloat(float x) {
  const uint32_t bits = __float_as_uint(x);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// A polynomial at x, from its highest coefficient down.
template <class... Coefficients>
__device__ inline float Polynomial(float x, float highest, Coefficients... others) {
  float p = highest;
  ((p = fmaf(p, x, others)), ...);
  return p;
}

// Of n from -126 to 127.
__device__ inline float PowerOfTwo(int n) { return __uint_as_float(static_cast<uint32_t>(n + 127) << 23); }

// e^x with a relative error below 2e-7; arguments beyond -87.3 and 88.3 count as these. NaN stays NaN.
__device__ inline float Exp(float x) {
  x = x < -87.3f ? -87.3f : x > 88.3f ? 88.3f : x;
  const int n = __float2int_rn(x * 1.44269504088896341f);
  const float whole = static_cast<float>(n);
  float r = fmaf(whole, -0.693359375f, x);  // ln 2 in two parts; the first has zeros at its end
  r = fmaf(whole, 2.12194440e-4f, r);
  const float p = Polynomial(r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                             1.6666665459e-1f, 5.0000001201e-1f);
  return fmaf(p, r * r, r + 1.0f) * PowerOfTwo(n);
}

// 2^x for x of at most 0, with a relative error below 3e-7; arguments below -125 count as that. NaN stays NaN.
__device__ inline float Exp2(float x) {
  x = x < -125.0f ? -125.0f : x;
  const float whole = floorf(x);
  const float p = Polynomial(x - whole, 1.87757667e-3f, 8.98934009e-3f, 5.58263181e-2f, 2.40153617e-1f,
                             6.93153073e-1f, 9.99999925e-1f);
  return p * PowerOfTwo(__float2int_rn(whole));
}

// cap * tanh(x / cap)
__device__ inline float SoftCap(float x, float cap) { return cap * (1.0f - 2.0f / (Exp((x + x) / cap) + 1.0f)); }

__device__ inline float Activated(Activation activation, float gate, float up) {
  // GELU: (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)), with u = sqrt(2 / pi) * g * (1 + 0.044715 g^2)
  const float exponent =
      activation == Activation::kGelu ? gate * -1.5957691216057308f * fmaf(gate * gate, 0.044715f, 1.0f) : 0.0f - gate;
  return gate / (1.0f + Exp(exponent)) * up;
}

__device__ inline float WarpSum(float x) {
  for (uint32_t lanes = kWarp / 2; lanes; lanes /= 2) x += __shfl_xor_sync(kAllLanes, x, lanes);
  return x;
}
__device__ inline float WarpMax(float x) {
  for (uint32_t lanes = kWarp / 2; lanes; lanes /= 2) x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, lanes));
  return x;
}

// 32 numbers, one in each lane, as bytes with a scale, which is NaN where one of them is no finite number.
struct WarpBlock {
  int value;  // of this lane
  float scale;
};

// Below this the reciprocal of the scale would overflow; such a block is zero.
inline constexpr float kLeastMaximum = 0x1p-100f;

__device__ inline WarpBlock QuantizeInWarp(float x) {
  // The bits of magnitudes order like the magnitudes, with infinity and NaN on top.
  uint32_t bits = __float_as_uint(x) & 0x7FFFFFFF;
  for (uint32_t lanes = kWarp / 2; lanes; lanes /= 2) {
    const uint32_t other = __shfl_xor_sync(kAllLanes, bits, lanes);
    bits = other > bits ? other : bits;
  }
  const float largest = __uint_as_float(bits);
  if (bits >= 0x7F800000) return {0, __uint_as_float(0x7FC00000)};
  if (largest < kLeastMaximum) return {0, 0.0f};
  return {__float2int_rn(x * (127.0f / largest)), largest / 127.0f};
}

__device__ inline void QuantizeTo(kernels::Q8Block* out, float x) {
  const uint32_t lane = threadIdx.x % kWarp;
  const WarpBlock block = QuantizeInWarp(x);
  int half = block.value;
  for (uint32_t lanes = kWarp / 4; lanes; lanes /= 2) half += __shfl_xor_sync(kAllLanes, half, lanes);
  const int sum = half + __shfl_xor_sync(kAllLanes, half, kWarp / 2);
  out->values[lane] = static_cast<int8_t>(block.value);
  if (lane != 0) return;
  out->scale = block.scale;
  out->scaled_sum = block.scale * static_cast<float>(sum);
  out->minus_sum = -sum;
  out->minus_first = -half;
}

}  // namespace owml::native
