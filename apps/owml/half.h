// 16-bit floating-point conversions for random inputs and summaries.
// Round to nearest even, as IEEE 754 says.
#pragma once

#include <bit>
#include <cstdint>

namespace owml::cli {

inline float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 31;
  const uint32_t mantissa = half & 0x3FF;
  if (exponent == 0) {  // zero and subnormal numbers: mantissa * 2^-24
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000 | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

// For finite values in [0, 1], which is all that random inputs need.
inline uint16_t FloatToHalf(float value) {
  const float scaled = value < 0x1p-14f ? 0.0f : value;  // subnormal halves are flushed
  const uint32_t bits = std::bit_cast<uint32_t>(scaled);
  if (scaled == 0.0f) return 0;
  const uint32_t rounded = bits + 0xFFF + ((bits >> 13) & 1);
  return static_cast<uint16_t>((rounded >> 13) - (112u << 10));
}

inline float BFloat16ToFloat(uint16_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value) << 16); }

inline uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

}  // namespace owml::cli
