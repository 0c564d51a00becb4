// The generator against the answers that its authors published with Random123.
#include "text/sampling/counter_random.h"

#include <gtest/gtest.h>

#include <set>

namespace owml {
namespace {

using Block = std::array<uint32_t, 4>;

TEST(CounterRandom, BlocksEqualThePublishedAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(Philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(CounterRandom, ANumberDependsOnSeedAndPositionOnly) {
  const CounterRandom random(7);
  const double third = random.Uniform(3);
  random.Uniform(0);
  EXPECT_EQ(random.Uniform(3), third);
  EXPECT_EQ(CounterRandom(7).Uniform(3), third);
  EXPECT_NE(CounterRandom(8).Uniform(3), third);
}

TEST(CounterRandom, AllBitsOfTheSeedCount) {
  std::set<double> numbers;
  for (int bit = 0; bit < 64; ++bit) numbers.insert(CounterRandom(uint64_t{1} << bit).Uniform(0));
  EXPECT_EQ(numbers.size(), 64u);
}

TEST(CounterRandom, NumbersAreBelowOneAndAverageOneHalf) {
  const CounterRandom random(1);
  double sum = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double number = random.Uniform(static_cast<uint64_t>(i));
    ASSERT_GE(number, 0.0);
    ASSERT_LT(number, 1.0);
    sum += number;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 4 * 0.2887 / 316.2);  // four standard deviations
}

}  // namespace
}  // namespace owml
