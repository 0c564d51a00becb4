#include "text/sampling/sampling_chain.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

namespace owml {
namespace {

// Logits that every machine makes alike.
std::vector<float> Logits(uint32_t step, size_t count = 400) {
  std::vector<float> logits(count);
  uint32_t state = 12345 + step * 7919;
  for (float& logit : logits) {
    state = state * 1664525 + 1013904223;
    logit = static_cast<float>(state >> 16) / 8192.0f - 4.0f;
  }
  return logits;
}

SamplingSettings Everything() {
  SamplingSettings settings;
  settings.temperature = 0.9f;
  settings.top_k = 50;
  settings.top_p = 0.95f;
  settings.min_p = 0.02f;
  settings.repetition_penalty = 1.1f;
  settings.repetition_window = 8;
  settings.presence_penalty = 0.2f;
  settings.frequency_penalty = 0.1f;
  return settings;
}

std::vector<uint32_t> Tokens(SamplingChain chain, uint32_t steps) {
  std::vector<uint32_t> tokens;
  for (uint32_t step = 0; step < steps; ++step) {
    tokens.push_back(chain.Pick(Logits(step)));
    chain.Accept(tokens.back());
  }
  return tokens;
}

TEST(SamplingChain, ASeedFixesTheTokens) {
  const std::vector<uint32_t> prompt = {5, 6};
  const auto tokens = Tokens(SamplingChain(Everything(), 42, prompt), 30);
  EXPECT_EQ(Tokens(SamplingChain(Everything(), 42, prompt), 30), tokens);
  EXPECT_NE(Tokens(SamplingChain(Everything(), 43, prompt), 30), tokens);
}

// The expected tokens were computed with 50 decimal digits by a program that shares nothing with this one.
TEST(SamplingChain, TokensOfASeedAreTheSameOnEveryMachine) {
  const std::vector<uint32_t> prompt = {5, 6};
  SamplingSettings warm;
  warm.temperature = 1;
  EXPECT_THAT(Tokens(SamplingChain(Everything(), 42, prompt), 12),
              testing::ElementsAre(19, 324, 96, 238, 53, 379, 180, 345, 156, 310, 187, 370));
  EXPECT_THAT(Tokens(SamplingChain(warm, 0xfedcba9876543210u, {}), 12),
              testing::ElementsAre(12, 14, 25, 360, 294, 67, 268, 207, 126, 126, 294, 119));
  warm.temperature = 1.2f;
  warm.top_p = 0.8f;
  EXPECT_THAT(Tokens(SamplingChain(warm, 99, {}), 12),
              testing::ElementsAre(332, 280, 261, 265, 311, 197, 353, 211, 11, 319, 322, 20));
}

TEST(SamplingChain, PickingAgainBeforeAcceptGivesTheSameToken) {
  SamplingChain chain(Everything(), 42, {});
  const uint32_t first = chain.Pick(Logits(0));
  EXPECT_EQ(chain.Pick(Logits(0)), first);
}

TEST(SamplingChain, PenaltiesApplyToGreedyChoices) {
  SamplingSettings settings;
  settings.presence_penalty = 2;
  SamplingChain chain(settings, 0, {});
  const std::vector<float> logits = {3, 4, 2.5f};
  EXPECT_EQ(chain.Pick(logits), 1u);
  chain.Accept(1);
  EXPECT_EQ(chain.Pick(logits), 0u);
  chain.Accept(0);
  EXPECT_EQ(chain.Pick(logits), 2u);
}

TEST(SamplingChain, PenaltiesMakeEveryLogitCount) {
  SamplingSettings settings;
  EXPECT_EQ(SamplingChain(settings, 1, {}).DecidingCount(), 1u);
  settings.frequency_penalty = 0.1f;
  EXPECT_EQ(SamplingChain(settings, 1, {}).DecidingCount(), 0u);
  settings = {};
  settings.repetition_penalty = 1.1f;
  EXPECT_EQ(SamplingChain(settings, 1, {}).DecidingCount(), 0u);
}

TEST(SamplingChain, DecidingLogitsTakeTheDrawOfTheirPlace) {
  SamplingSettings settings;
  settings.temperature = 1;
  settings.top_k = 40;
  SamplingChain whole(settings, 42, {}), short_rows(settings, 42, {});
  std::set<uint32_t> seen;
  for (uint32_t step = 0; step < 50; ++step) {
    const std::vector<float> row = Logits(step);
    std::vector<TokenCandidate> highest;
    for (const float logit : row) highest.push_back({logit, static_cast<uint32_t>(highest.size())});
    std::ranges::stable_sort(highest, std::greater(), &TokenCandidate::logit);
    highest.resize(short_rows.DecidingCount());
    std::ranges::sort(highest, {}, &TokenCandidate::token);
    const uint32_t token = whole.Pick(row);
    ASSERT_EQ(short_rows.PickOfHighest(highest, row.size()), token);
    whole.Accept(token);
    short_rows.Accept(token);
    seen.insert(token);
  }
  EXPECT_GT(seen.size(), 20u) << "not always the highest";
}

}  // namespace
}  // namespace owml
