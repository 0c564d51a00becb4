// The highest logits of a row that comes in pieces.
#include "backend/native/best_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace owml::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<int32_t> Tokens(std::span<const TokenLogit> list) {
  std::vector<int32_t> tokens;
  for (const TokenLogit& entry : list) tokens.push_back(entry.token);
  return tokens;
}

// The list of a row cut into pieces that come in a seeded order, on two threads.
std::vector<TokenLogit> ListOf(const std::vector<float>& logits, size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::pair<size_t, size_t>> pieces;
  for (size_t begin = 0; begin < logits.size();) {
    const size_t size = std::min<size_t>(1 + random() % 40, logits.size() - begin);
    pieces.emplace_back(begin, size);
    begin += size;
  }
  std::shuffle(pieces.begin(), pieces.end(), random);
  std::vector<TokenLogit> a(count), b(count);
  native::Clear(a);
  native::Clear(b);
  for (const auto& [begin, size] : pieces) {
    native::Merge(random() % 2 ? a : b, std::span(logits).subspan(begin, size), static_cast<int32_t>(begin));
  }
  native::Merge(a, b);
  return a;
}

TEST(BestListTest, HoldsTheHighestInOrderAndTheLowestTokenFirstAmongEquals) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> logits(1 + random() % 300);
    // Few different values, so that many are equal.
    for (float& logit : logits) logit = static_cast<float>(random() % 20) - 10;
    std::vector<int32_t> expected(logits.size());
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int32_t>(i);
    std::stable_sort(expected.begin(), expected.end(), [&](int32_t x, int32_t y) {
      return logits[static_cast<size_t>(x)] > logits[static_cast<size_t>(y)];
    });
    const size_t count = std::min<size_t>(logits.size(), round % 2 ? 1 : 10);
    expected.resize(count);
    EXPECT_EQ(Tokens(ListOf(logits, count, static_cast<uint32_t>(round))), expected);
  }
}

TEST(BestListTest, AnInvalidLogitComesFirstSoThatItIsNotOverlooked) {
  for (const float bad : {kNan, kInfinity}) {
    std::vector<float> logits(200, 1);
    logits[150] = logits[77] = bad;
    for (uint32_t seed = 0; seed < 20; ++seed) {
      EXPECT_EQ(Tokens(ListOf(logits, 3, seed)), (std::vector<int32_t>{77, 150, 0}));
      EXPECT_EQ(Tokens(ListOf(logits, 1, seed)), std::vector<int32_t>{77});
    }
  }
}

TEST(BestListTest, LogitsThatAreMinusInfinityAreStillTokens) {
  std::vector<float> logits(100, -kInfinity);
  logits[60] = -5;
  EXPECT_EQ(Tokens(ListOf(logits, 3, 1)), (std::vector<int32_t>{60, 0, 1}));
}

}  // namespace
}  // namespace owml::test
