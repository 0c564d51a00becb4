// Loops that do nothing but reach a limit of the machine: reading, and multiplying bytes.
// Instantiated in kernels_<isa>.cpp; run by `owml bench` beside the models.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/inline.h"

namespace owml::kernels {

template <class V>
uint64_t ProbeRead(const std::byte* from, size_t count) {
  const auto* at = reinterpret_cast<const uint8_t*>(from);
  typename V::Bytes seen[4] = {V::LoadBytes(at), V::LoadBytes(at + 64), V::LoadBytes(at + 128), V::LoadBytes(at + 192)};
  for (size_t i = 256; i + 256 <= count; i += 256) {
    OWML_UNROLL for (int j = 0; j < 4; ++j) seen[j] = V::Or(seen[j], V::LoadBytes(at + i + 64 * j));
  }
  const typename V::Bytes all = V::Or(V::Or(seen[0], seen[1]), V::Or(seen[2], seen[3]));
  uint8_t bytes[64];
  __builtin_memcpy(bytes, &all, sizeof(bytes));
  uint64_t sum = 0;
  for (const uint8_t byte : bytes) sum += byte;
  return sum;
}

// Each round is 16 products of 64 bytes with 64 bytes into 16 sums: 16 * 64 multiplications and as many additions.
template <class V>
uint64_t ProbeMultiply(const std::byte* operands, size_t rounds) {
  constexpr int kSums = V::kTile >= 8 ? 16 : 4;
  const auto* at = reinterpret_cast<const uint8_t*>(operands);
  const typename V::Bytes weights = V::template Bits<0, 15>(V::LoadBytes(at));
  typename V::I sums[kSums];
  OWML_UNROLL for (int i = 0; i < kSums; ++i) sums[i] = V::SetInt(i);
  for (size_t round = 0; round < rounds; ++round) {
    for (int repeat = 0; repeat < 16 / kSums; ++repeat) {
      OWML_UNROLL for (int i = 0; i < kSums; ++i) {
        sums[i] = V::AddWide(sums[i], weights, reinterpret_cast<const int8_t*>(at + 64));
      }
    }
  }
  int64_t total = 0;
  for (int i = 0; i < kSums; ++i) total += V::SumLanesInt(sums[i]);
  return static_cast<uint64_t>(total);
}

}  // namespace owml::kernels
