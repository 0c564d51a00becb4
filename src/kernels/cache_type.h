// Element types of cached keys and values, and the bytes that a position takes.
// Used by the attention kernels and by caches.
#pragma once

#include <cstddef>

namespace owml::kernels {

// kQ8: blocks of 32 numbers with a scale in half precision.
enum class CacheType { kF16, kBF16, kQ8 };
inline constexpr size_t kCacheTypes = 3;

// Rows of values are padded to whole vectors.
constexpr size_t PaddedWidth(size_t width) { return (width + 15) / 16 * 16; }

// Of one position of one KV head. Keys lie in groups of 16 positions, BF16 in pairs of dimensions or positions:
//   kF16          keys    [position / 16][width][16]
//                 values  [position][PaddedWidth]
//   kBF16         keys    [position / 16][(width + 1) / 2][16][2]
//                 values  [position / 2][PaddedWidth][2]
//   kQ8           keys    [position / 16][block]: 16 scales, [32][16] bytes
//                 values  [position][block]: 32 bytes; then a scale for each block
constexpr size_t KeyBytes(CacheType type, size_t width) {
  if (type == CacheType::kQ8) return (width + 31) / 32 * 34;
  return type == CacheType::kBF16 ? (width + 1) / 2 * 4 : width * 2;
}
constexpr size_t ValueBytes(CacheType type, size_t width) {
  return type == CacheType::kQ8 ? (width + 31) / 32 * 34 : PaddedWidth(width) * 2;
}

}  // namespace owml::kernels
