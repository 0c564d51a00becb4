// bfloat16 <-> float for random inputs and summaries.
// Round to nearest even; for finite values and infinities.
#pragma once

#include <bit>
#include <cstdint>

namespace owml::cli {

inline float BFloat16ToFloat(uint16_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value) << 16); }

inline uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

}  // namespace owml::cli
