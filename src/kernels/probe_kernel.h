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

// Each round multiplies 16 times 64 bytes with 64 bytes and adds: 16 * 64 multiplications and as many additions.
template <class V>
uint64_t ProbeMultiply(const std::byte* operands, size_t rounds) {
  using R = typename V::Rows;
  constexpr int kSums = 8;  // as many as hide the latency
  constexpr int kProducts = 16 * 16 / R::kLanes;
  const auto* at = reinterpret_cast<const uint8_t*>(operands);
  const typename R::Bytes weights = R::LoadBytes(at);
  typename R::I sums[kSums];
  OWML_UNROLL for (int i = 0; i < kSums; ++i) sums[i] = R::SetInt(i);
  for (size_t product = 0; product < rounds * kProducts; product += kSums) {
    // Without it the products would be found to be the same in every turn.
    __asm__ volatile("" ::: "memory");
    OWML_UNROLL for (int i = 0; i < kSums; ++i) {
      sums[i] = R::MultiplyAdd(sums[i], weights, R::Broadcast(reinterpret_cast<const int8_t*>(at + 64 + 4 * i)));
    }
  }
  alignas(64) int32_t lanes[kSums][R::kLanes];
  __builtin_memcpy(lanes, sums, sizeof(lanes));
  int64_t total = 0;
  for (const auto& sum : lanes) {
    for (const int32_t lane : sum) total += lane;
  }
  return static_cast<uint64_t>(total);
}

}  // namespace owml::kernels
