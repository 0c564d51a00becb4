// The greedy choice: ties, NaN, infinities, both types, any alignment.
// Compared with std::max_element where that is defined.
#include "tensor/argmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/half.h"

namespace owml::test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

uint64_t Float32Choice(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * 4 + 1);
  std::memcpy(bytes.data() + 1, values.data(), values.size() * 4);  // misaligned on purpose
  return ArgMax({DType::kFloat32, {1, values.size()}, bytes.data() + 1, values.size() * 4});
}

uint64_t Float16Choice(const std::vector<float>& values) {
  std::vector<uint16_t> halves;
  for (const float value : values) halves.push_back(FloatToHalf(value));
  return ArgMax({DType::kFloat16, {1, values.size()}, reinterpret_cast<std::byte*>(halves.data()), halves.size() * 2});
}

void ExpectChoice(uint64_t wanted, const std::vector<float>& values) {
  EXPECT_EQ(wanted, Float32Choice(values));
  EXPECT_EQ(wanted, Float16Choice(values));
}

TEST(ArgMax, TakesTheHighestAndTheLowestIndexOnATie) {
  ExpectChoice(0, {5});
  ExpectChoice(2, {1, 2, 3, 3, 0});
  ExpectChoice(0, {7, 7, 7});
  ExpectChoice(1, {-3, -1, -2});
  ExpectChoice(0, {-0.0f, 0.0f});
}

TEST(ArgMax, NaNNeverWins) {
  ExpectChoice(2, {kNaN, 1, 2, kNaN});
  ExpectChoice(1, {kNaN, -kInf, kNaN});
  ExpectChoice(0, {kNaN, kNaN});
}

TEST(ArgMax, InfinitiesAreValues) {
  ExpectChoice(1, {3, kInf, 65504});
  ExpectChoice(0, {-kInf, -kInf});
  ExpectChoice(2, {-kInf, -kInf, -65504});
}

TEST(ArgMax, AgreesWithTheStandardLibraryOnRandomLogits) {
  std::mt19937 random(11);
  std::normal_distribution<float> logits(0, 4);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> values(1 + random() % 3000);
    for (float& value : values) value = HalfToFloat(FloatToHalf(logits(random)));
    ExpectChoice(static_cast<uint64_t>(std::max_element(values.begin(), values.end()) - values.begin()), values);
  }
}

}  // namespace
}  // namespace owml::test
