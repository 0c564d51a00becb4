// Reading and writing cached keys and values. As floats a vector of keys holds 16 positions at one dimension, one of
// values 16 dimensions of a position; pairs of BF16 are read as they lie.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cache_type.h"
#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/row_kernels.h"

namespace owml::kernels {

// Of kF16 and kQ8.
template <class V, CacheType Type>
struct Cache {
  // `group` are the keys of 16 positions.
  static OWML_INLINE typename V::F Keys(const std::byte* group, size_t d) {
    const auto* at = reinterpret_cast<const uint8_t*>(group);
    if constexpr (Type == CacheType::kQ8) {
      const uint8_t* block = at + d / 32 * (34 * 16);
      return V::Mul(V::LoadHalf(block), V::LoadByteFloats(block + 32 + d % 32 * 16));
    } else {
      return V::LoadHalf(at + d * 32);
    }
  }

  // Dimensions d to d + 15 of one position; d is a multiple of 16.
  static OWML_INLINE typename V::F Values(const std::byte* position, size_t width, size_t d) {
    const auto* at = reinterpret_cast<const uint8_t*>(position);
    if constexpr (Type == CacheType::kQ8) {
      const typename V::F scale = V::LoadHalfOnce(at + (width + 31) / 32 * 32 + d / 32 * 2);
      return V::Mul(scale, V::LoadByteFloats(at + d));
    } else {
      return V::LoadHalf(at + d * 2);
    }
  }
};

// Rounded to nearest, ties to even; NaN stays NaN.
OWML_INLINE uint16_t ToBfloat(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// The number at dimension d, or zero beyond the width.
OWML_INLINE uint16_t BfloatAt(const float* x, size_t width, size_t d) { return d < width ? ToBfloat(x[d]) : 0; }

// Up to 32 numbers as bytes and a scale in half precision.
template <class V>
OWML_INLINE uint16_t QuantizeForCache(const float* x, size_t count, int8_t* bytes) {
  alignas(64) float block[32] = {};
  for (size_t i = 0; i < 32 && i < count; ++i) block[i] = x[i];
  Q8Block q;
  Quantize<V>(block, 32, &q);
  for (int i = 0; i < 32; ++i) bytes[i] = q.values[i];
  uint16_t halves[16];
  V::StoreHalf(halves, V::Set(q.scale));
  return halves[0];
}

template <class V, CacheType Type>
void StoreKey(const float* key, size_t width, std::byte* keys, size_t position) {
  std::byte* group = keys + position / 16 * 16 * KeyBytes(Type, width);
  const size_t lane = position % 16;
  if constexpr (Type == CacheType::kQ8) {
    for (size_t d = 0; d < width; d += 32, group += 34 * 16) {
      int8_t bytes[32];
      const uint16_t scale = QuantizeForCache<V>(key + d, width - d, bytes);
      __builtin_memcpy(group + lane * 2, &scale, sizeof(scale));
      for (size_t i = 0; i < 32; ++i) group[32 + i * 16 + lane] = static_cast<std::byte>(bytes[i]);
    }
  } else if constexpr (Type == CacheType::kBF16) {
    for (size_t d = 0; d < width; d += 2) {
      const uint16_t pair[2] = {BfloatAt(key, width, d), BfloatAt(key, width, d + 1)};
      __builtin_memcpy(group + (d / 2 * 16 + lane) * sizeof(pair), pair, sizeof(pair));
    }
  } else {
    for (size_t d = 0; d < width; d += 16) {
      uint16_t numbers[16];
      V::StoreHalf(numbers, LoadUpTo16<V>(key + d, width - d));
      for (size_t i = 0; i < 16 && d + i < width; ++i) {
        __builtin_memcpy(group + ((d + i) * 16 + lane) * 2, &numbers[i], sizeof(uint16_t));
      }
    }
  }
}

template <class V, CacheType Type>
void StoreValue(const float* value, size_t width, std::byte* values, size_t position) {
  [[maybe_unused]] std::byte* row = values + position * ValueBytes(Type, width);
  if constexpr (Type == CacheType::kQ8) {
    const size_t blocks = (width + 31) / 32;
    for (size_t b = 0; b < blocks; ++b) {
      int8_t bytes[32];
      const uint16_t scale = QuantizeForCache<V>(value + 32 * b, width - 32 * b, bytes);
      __builtin_memcpy(row + 32 * b, bytes, sizeof(bytes));
      __builtin_memcpy(row + 32 * blocks + 2 * b, &scale, sizeof(scale));
    }
  } else if constexpr (Type == CacheType::kBF16) {
    std::byte* pairs = values + position / 2 * 2 * ValueBytes(Type, width);
    for (size_t d = 0; d < PaddedWidth(width); ++d) {
      const uint16_t number = BfloatAt(value, width, d);
      __builtin_memcpy(pairs + (2 * d + position % 2) * sizeof(number), &number, sizeof(number));
    }
  } else {
    for (size_t d = 0; d < width; d += 16) {
      uint16_t numbers[16];
      V::StoreHalf(numbers, LoadUpTo16<V>(value + d, width - d));
      __builtin_memcpy(row + d * 2, numbers, sizeof(numbers));
    }
  }
}

}  // namespace owml::kernels
