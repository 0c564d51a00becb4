// Compared with the C library in more bits than a double has.
#include "text/sampling/portable_exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace owml {
namespace {

TEST(PortableExp, IsTheExponentialWithinTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (int i = 0; i <= 400000; ++i) {
    const double x = -708.0 * i / 400000;
    const long double exact = std::exp(static_cast<long double>(x));
    const double got = PortableExp(x);
    const double unit = std::nextafter(got, 2.0) - got;
    worst = std::max(worst, static_cast<double>(std::fabs(got - exact)) / unit);
  }
  EXPECT_LT(worst, 2.0);
}

TEST(PortableExp, IsExactAtZeroAndNothingFarBelow) {
  EXPECT_EQ(PortableExp(0.0), 1.0);
  EXPECT_EQ(PortableExp(-0.0), 1.0);
  EXPECT_GT(PortableExp(-708.0), 0.0);
  EXPECT_EQ(PortableExp(-708.0001), 0.0);
  EXPECT_EQ(PortableExp(-std::numeric_limits<double>::max()), 0.0);
  EXPECT_EQ(PortableExp(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(PortableExp, NeverRises) {
  double last = 1.0;
  for (int i = 1; i <= 100000; ++i) {
    const double value = PortableExp(-i * 0.001);
    ASSERT_LE(value, last) << i;
    last = value;
  }
}

}  // namespace
}  // namespace owml
