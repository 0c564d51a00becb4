// The two conversions on the bits, the same on every machine.
// Layouts: half 1|5|10 with bias 15, float 1|8|23 with bias 127.
#include "base/half.h"

#include <bit>

namespace owml {

float HalfToFloat(uint16_t half) noexcept {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1F;
  const uint32_t mantissa = half & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 127 - 15) << 23) | (mantissa << 13));
  // Zero and subnormals: mantissa * 2^-24, exact in float.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t FloatToHalf(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000)
    return static_cast<uint16_t>(sign | 0x7C00 | 0x200 | ((magnitude >> 13) & 0x3FF));  // quiet
  if (magnitude >= 0x477FF000) return static_cast<uint16_t>(sign | 0x7C00);  // 65520 and more round to infinity
  uint32_t kept = 0;              // exponent and mantissa of the half before rounding
  uint32_t rest = 0;              // what is cut off
  uint32_t tie = 0;               // the rest that is exactly half a step
  if (magnitude >= 0x38800000) {  // 2^-14: normal
    kept = (magnitude - 0x38000000) >> 13;
    rest = magnitude & 0x1FFF;
    tie = 0x1000;
  } else if (magnitude >= 0x33000000) {  // 2^-25: subnormal, in steps of 2^-24
    const uint32_t shift = 126 - (magnitude >> 23);
    const uint32_t mantissa = (magnitude & 0x7FFFFF) | 0x800000;
    kept = mantissa >> shift;
    rest = mantissa & ((1u << shift) - 1);
    tie = 1u << (shift - 1);
  } else {
    return sign;
  }
  // A carry out of the mantissa raises the exponent, which is what rounding up means there.
  if (rest > tie || (rest == tie && (kept & 1))) ++kept;
  return static_cast<uint16_t>(sign | kept);
}

}  // namespace owml
