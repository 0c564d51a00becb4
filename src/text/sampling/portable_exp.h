// The exponential function in plain IEEE arithmetic: the same bits on every machine, which the C library does not
// promise. Used by the token sampler for the weights of candidates; the including file is built without fused
// operations.
#pragma once

#include <bit>
#include <cstdint>

namespace owml {

// For x <= 0 within 2 units in the last place; 0 below -708, before results lose bits.
inline double PortableExp(double x) noexcept {
  constexpr double kLog2E = 0x1.71547652b82fep0;
  // ln 2 in two parts; the upper one has so few bits that its product with a whole number below 2^11 is exact.
  constexpr double kLn2High = 0x1.62e42fee00000p-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kRounder = 0x1.8p52;  // adding it leaves the nearest whole number in the low bits
  const double rounded = x * kLog2E + kRounder;
  const double whole = rounded - kRounder;
  const double r = (x - whole * kLn2High) - whole * kLn2Low;  // |r| <= ln 2 / 2
  double sum = 1.0 / 6227020800.0;                            // 1 / 13!
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const double power = std::bit_cast<double>((std::bit_cast<uint64_t>(rounded) + 1023) << 52);
  return x < -708.0 ? 0.0 : sum * power;
}

}  // namespace owml
