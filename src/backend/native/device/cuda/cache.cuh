// The cache as kernels see it, in the layout of kernels/cache_type.h.
// Included by cache.cu, which writes it, and attention.cu, which reads it.
#pragma once

#include "backend/native/device/cuda/arithmetic.cuh"

namespace owml::native {

struct CudaCache {
  uint8_t *keys, *values;
  uint64_t key_slot, key_head, key_segment;  // bytes from one to the next
  uint64_t value_slot, value_head, value_segment;
  uint64_t positions;
  uint32_t width;

  // Of a head, where the segment of a position lies.
  __device__ uint8_t* KeysFrom(uint64_t slot, uint64_t head, uint64_t position) const {
    return keys + slot * key_slot + head * key_head + position % positions / kernels::kAttentionSegment * key_segment;
  }
  __device__ uint8_t* ValuesFrom(uint64_t slot, uint64_t head, uint64_t position) const {
    return values + slot * value_slot + head * value_head +
           position % positions / kernels::kAttentionSegment * value_segment;
  }
};

inline CudaCache CacheOf(const CacheLayer& layer, uint64_t width) {
  return {OnDevice<uint8_t>(layer.keys.address()),
          OnDevice<uint8_t>(layer.values.address()),
          layer.keys.stride(0),
          layer.keys.stride(1),
          layer.keys.stride(2),
          layer.values.stride(0),
          layer.values.stride(1),
          layer.values.stride(2),
          layer.positions,
          static_cast<uint32_t>(width)};
}

// f.template operator()<Type>() for the type of a cache.
template <class F>
void ForCacheType(kernels::CacheType type, F&& f) {
  switch (type) {
    case kernels::CacheType::kF16:
      return f.template operator()<kernels::CacheType::kF16>();
    case kernels::CacheType::kBF16:
      return f.template operator()<kernels::CacheType::kBF16>();
    case kernels::CacheType::kQ8:
      return f.template operator()<kernels::CacheType::kQ8>();
  }
}

// Groups of keys, and blocks of bytes with a scale.
inline constexpr uint32_t kKeyGroup = 16;
inline constexpr uint32_t kCacheBlock = 32;
inline constexpr uint32_t kKeyBlockBytes = (kCacheBlock + 2) * kKeyGroup;

template <kernels::CacheType Type>
__device__ uint64_t CacheKeyBytes(uint32_t width) {
  if (Type == kernels::CacheType::kQ8) return (width + kCacheBlock - 1) / kCacheBlock * (kCacheBlock + 2);
  return Type == kernels::CacheType::kBF16 ? (width + 1) / 2 * 4 : width * 2;
}
template <kernels::CacheType Type>
__device__ uint64_t CacheValueBytes(uint32_t width) {
  return Type == kernels::CacheType::kQ8 ? CacheKeyBytes<Type>(width) : (width + 15) / 16 * 32;
}

// Where a number of two bytes stands: a key in its group, a value behind the first of its position, or of its pair of
// positions in BF16.
template <kernels::CacheType Type>
__device__ uint32_t KeyPlace(uint32_t d, uint32_t place) {
  return Type == kernels::CacheType::kBF16 ? (d / 2 * kKeyGroup + place) * 2 + d % 2 : d * kKeyGroup + place;
}
template <kernels::CacheType Type>
__device__ uint32_t ValuePlace(uint32_t d, uint32_t position) {
  return Type == kernels::CacheType::kBF16 ? 2 * d + position % 2 : d;
}
// The values of a position, or of its pair, behind those of the segment.
template <kernels::CacheType Type>
__device__ uint64_t ValueRow(uint32_t width, uint32_t position) {
  const uint32_t row = Type == kernels::CacheType::kBF16 ? position / 2 * 2 : position;
  return row * CacheValueBytes<Type>(width);
}

}  // namespace owml::native
