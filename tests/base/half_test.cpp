// Half precision on all 65536 values and around every rounding border.
// The oracle computes with ldexp and nearbyint in double, not on bits.
#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

namespace owml {
namespace {

double ValueOf(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double mantissa = half & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

// The nearest half by arithmetic; the default rounding mode is to nearest even.
uint16_t NearestHalf(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int step = std::max(exponent - 11, -24);  // log2 of the distance between neighbours
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(magnitude, -step)), step);
  if (rounded > 65504) return static_cast<uint16_t>(sign | 0x7C00);
  for (uint32_t low = 0, high = 0x7BFF; low <= high;) {
    const uint32_t middle = (low + high) / 2;
    const double at = ValueOf(static_cast<uint16_t>(middle));
    if (at == rounded) return static_cast<uint16_t>(sign | middle);
    if (at < rounded) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  ADD_FAILURE() << value << " has no half";
  return 0;
}

TEST(Half, EveryFiniteValueIsExactAndComesBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    if ((half & 0x7C00) == 0x7C00) continue;
    const float value = HalfToFloat(half);
    EXPECT_EQ(static_cast<double>(value), ValueOf(half)) << bits;
    EXPECT_EQ(std::signbit(value), (half & 0x8000) != 0) << bits;
    EXPECT_EQ(FloatToHalf(value), half);
  }
}

TEST(Half, InfinitiesAndNaNStayWhatTheyAre) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(HalfToFloat(0x7C00), inf);
  EXPECT_EQ(HalfToFloat(0xFC00), -inf);
  EXPECT_EQ(FloatToHalf(inf), 0x7C00);
  EXPECT_EQ(FloatToHalf(-inf), 0xFC00);
  for (uint32_t bits = 0x7C01; bits < 0x8000; ++bits) EXPECT_TRUE(std::isnan(HalfToFloat(static_cast<uint16_t>(bits))));
  for (const uint32_t bits : {0x7F800001u, 0x7FC00000u, 0xFFFFFFFFu, 0x7F801000u}) {
    const uint16_t half = FloatToHalf(std::bit_cast<float>(bits));
    EXPECT_EQ(half & 0x7C00, 0x7C00);
    EXPECT_NE(half & 0x03FF, 0);
  }
}

TEST(Half, RoundsToNearestEvenAroundEveryBorder) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const float low = HalfToFloat(static_cast<uint16_t>(bits));
    const float high = HalfToFloat(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    for (const float value : {middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      EXPECT_EQ(FloatToHalf(value), NearestHalf(value)) << value;
      EXPECT_EQ(FloatToHalf(-value), NearestHalf(-value)) << -value;
    }
  }
}

TEST(Half, OverflowsAndUnderflowsWhereTheNeighbourIsNearer) {
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7BFF);
  EXPECT_EQ(FloatToHalf(std::nextafter(65520.0f, 0.0f)), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7C00);
  EXPECT_EQ(FloatToHalf(1e30f), 0x7C00);
  EXPECT_EQ(FloatToHalf(0x1p-25f), 0) << "a tie goes to the even zero";
  EXPECT_EQ(FloatToHalf(std::nextafter(0x1p-25f, 1.0f)), 1);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::denorm_min()), 0);
}

TEST(Half, AgreesWithArithmeticOnRandomFloats) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()) & 0xC7FFFFFFu);  // up to 2^17 or so
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(FloatToHalf(value), NearestHalf(value)) << value;
  }
}

}  // namespace
}  // namespace owml
