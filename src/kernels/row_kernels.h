// Kernels over one row of activations: norm, quantization, activation function, rotation, cache entries.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/vector_math.h"

namespace owml::kernels {

template <class V>
OWML_INLINE typename V::F LoadUpTo16(const float* x, size_t left) {
  return left >= 16 ? V::Load(x) : V::LoadPartial(x, left);
}

template <class V>
OWML_INLINE void StoreUpTo16(float* x, typename V::F value, size_t left) {
  if (left >= 16) {
    V::Store(x, value);
  } else {
    V::StorePartial(x, value, left);
  }
}

template <class V>
void RmsNorm(const float* x, const float* weight, size_t count, float epsilon, float* out) {
  typename V::F squares = V::Set(0.0f);
  for (size_t i = 0; i < count; i += 16) {
    const typename V::F v = LoadUpTo16<V>(x + i, count - i);
    squares = V::Fma(v, v, squares);
  }
  const float mean = V::SumLanes(squares) / static_cast<float>(count);
  const typename V::F factor = V::Set(1.0f / __builtin_sqrtf(mean + epsilon));
  for (size_t i = 0; i < count; i += 16) {
    const typename V::F v = V::Mul(LoadUpTo16<V>(x + i, count - i), factor);
    StoreUpTo16<V>(out + i, V::Mul(v, LoadUpTo16<V>(weight + i, count - i)), count - i);
  }
}

// Below this the reciprocal of the scale would overflow; such a block is zero.
inline constexpr float kSmallestMaximum = 0x1p-100f;

template <class V>
void Quantize(const float* x, size_t count, Q8Block* out) {
  for (size_t i = 0; i < count; i += kBlock, x += kBlock, ++out) {
    const typename V::F a = V::Load(x), b = V::Load(x + 16);
    // The bits of magnitudes order like the magnitudes, with infinity and NaN on top.
    const int32_t bits = V::MaxLane(V::MaxInt(V::MagnitudeBits(a), V::MagnitudeBits(b)));
    float largest;
    __builtin_memcpy(&largest, &bits, sizeof(bits));
    const bool finite = bits < 0x7F800000;
    const float inverse = finite && largest >= kSmallestMaximum ? 127.0f / largest : 0.0f;
    if (inverse == 0.0f) {
      __builtin_memset(out, 0, sizeof(*out));
      if (!finite) out->scale = out->scaled_sum = __builtin_nanf("");
      continue;
    }
    const typename V::I qa = V::RoundToInt(V::Mul(a, V::Set(inverse)));
    const typename V::I qb = V::RoundToInt(V::Mul(b, V::Set(inverse)));
    V::StoreInt8(out->values, qa);
    V::StoreInt8(out->values + 16, qb);
    int32_t second;
    V::SumBoth(qa, qb, &out->minus_first, &second);
    out->minus_first = -out->minus_first;
    out->minus_sum = out->minus_first - second;
    out->scale = largest / 127.0f;
    out->scaled_sum = out->scale * static_cast<float>(-out->minus_sum);
  }
}

template <class V>
void SiluMultiply(float* gate, const float* up, size_t count) {
  for (size_t i = 0; i < count; i += 16) {
    const typename V::F g = LoadUpTo16<V>(gate + i, count - i);
    const typename V::F denominator = V::Add(V::Set(1.0f), Exp<V>(V::Sub(V::Set(0.0f), g)));
    const typename V::F silu = V::Div(g, denominator);
    StoreUpTo16<V>(gate + i, V::Mul(silu, LoadUpTo16<V>(up + i, count - i)), count - i);
  }
}

template <class V>
void GeluMultiply(float* gate, const float* up, size_t count) {
  for (size_t i = 0; i < count; i += 16) {
    const typename V::F g = LoadUpTo16<V>(gate + i, count - i);
    // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)), with u = sqrt(2 / pi) * g * (1 + 0.044715 g^2)
    const typename V::F shape = V::Fma(V::Mul(g, g), V::Set(0.044715f), V::Set(1.0f));
    const typename V::F exponent = V::Mul(V::Mul(g, V::Set(-1.5957691216057308f)), shape);
    const typename V::F gelu = V::Div(g, V::Add(V::Set(1.0f), Exp<V>(exponent)));
    StoreUpTo16<V>(gate + i, V::Mul(gelu, LoadUpTo16<V>(up + i, count - i)), count - i);
  }
}

template <class V>
void RotatePairs(float* x, const float* cosines, const float* sines, size_t count) {
  for (size_t i = 0; i < count; i += 16) {
    const size_t left = count - i;
    const typename V::F v = LoadUpTo16<V>(x + i, left);
    const typename V::F straight = V::Mul(v, LoadUpTo16<V>(cosines + i, left));
    StoreUpTo16<V>(x + i, V::Fma(V::SwapPairs(v), LoadUpTo16<V>(sines + i, left), straight), left);
  }
}

template <class V>
void RotateHalves(float* x, const float* cosines, const float* sines, size_t count) {
  const size_t half = count / 2;
  for (size_t i = 0; i < half; i += 16) {
    const size_t left = half - i;
    const typename V::F a = LoadUpTo16<V>(x + i, left), b = LoadUpTo16<V>(x + half + i, left);
    const typename V::F cosine = LoadUpTo16<V>(cosines + i, left), sine = LoadUpTo16<V>(sines + i, left);
    StoreUpTo16<V>(x + i, V::Sub(V::Mul(a, cosine), V::Mul(b, sine)), left);
    StoreUpTo16<V>(x + half + i, V::Fma(a, sine, V::Mul(b, cosine)), left);
  }
}

template <class V>
void AddScaled(float* x, const float* y, float factor, size_t count) {
  for (size_t i = 0; i < count; i += 16) {
    const size_t left = count - i;
    StoreUpTo16<V>(x + i, V::Fma(LoadUpTo16<V>(y + i, left), V::Set(factor), LoadUpTo16<V>(x + i, left)), left);
  }
}

template <class V>
void SoftCapAll(float* x, float cap, size_t count) {
  for (size_t i = 0; i < count; i += 16) {
    StoreUpTo16<V>(x + i, SoftCap<V>(LoadUpTo16<V>(x + i, count - i), V::Set(cap)), count - i);
  }
}

template <class V>
void Scale(float* x, float factor, size_t count) {
  for (size_t i = 0; i < count; i += 16) {
    StoreUpTo16<V>(x + i, V::Mul(LoadUpTo16<V>(x + i, count - i), V::Set(factor)), count - i);
  }
}

}  // namespace owml::kernels
