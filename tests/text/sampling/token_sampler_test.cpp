#include "text/sampling/token_sampler.h"

#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "base/error.h"

namespace owml {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

SamplingSettings Warm(float temperature = 1) {
  SamplingSettings settings;
  settings.temperature = temperature;
  return settings;
}

// What can come out in many draws.
std::set<uint32_t> Reachable(const SamplingSettings& settings, const std::vector<float>& logits) {
  TokenSampler sampler(settings, 5);
  std::set<uint32_t> tokens;
  for (uint64_t draw = 0; draw < 3000; ++draw) tokens.insert(sampler.Pick(logits, draw));
  return tokens;
}

std::string Sentence(const SamplingSettings& settings, const std::vector<float>& logits) {
  try {
    TokenSampler(settings, 1).Pick(logits, 0);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    return error.what();
  }
  return "no error";
}

TEST(TokenSampler, GreedyTakesTheHighestAndTheLowestIdOfATie) {
  TokenSampler sampler(SamplingSettings{}, 1);
  EXPECT_EQ(sampler.Pick(std::vector<float>{1, 3, 2}, 0), 1u);
  EXPECT_EQ(sampler.Pick(std::vector<float>{1, 3, 3, 3}, 0), 1u);
  EXPECT_EQ(sampler.Pick(std::vector<float>{-0.0f, 0.0f}, 0), 0u);
  std::vector<float> many(1000, 0.5f);
  many[977] = many[503] = 0.75f;
  EXPECT_EQ(sampler.Pick(many, 0), 503u);
  many[999] = 2;
  EXPECT_EQ(sampler.Pick(many, 0), 999u);
}

TEST(TokenSampler, TopKKeepsTheLowestIdsOfATie) {
  SamplingSettings settings = Warm();
  settings.top_k = 2;
  EXPECT_EQ(Reachable(settings, {1, 1, 1, 1}), (std::set<uint32_t>{0, 1}));
  EXPECT_EQ(Reachable(settings, {0, 1, 3, 2}), (std::set<uint32_t>{2, 3}));
}

TEST(TokenSampler, ATopKBeyondTheVocabularyIsOff) {
  SamplingSettings settings = Warm();
  settings.top_k = 4000000000u;
  EXPECT_EQ(Reachable(settings, {1, 1, 1}), (std::set<uint32_t>{0, 1, 2}));
}

TEST(TokenSampler, TopPKeepsTheFewestTokensThatReachIt) {
  SamplingSettings settings = Warm();
  const std::vector<float> logits = {std::log(0.1f), std::log(0.5f), std::log(0.4f)};
  settings.top_p = 0.45f;
  EXPECT_EQ(Reachable(settings, logits), (std::set<uint32_t>{1}));
  settings.top_p = 0.55f;
  EXPECT_EQ(Reachable(settings, logits), (std::set<uint32_t>{1, 2}));
  settings.top_p = 0.95f;
  EXPECT_EQ(Reachable(settings, logits), (std::set<uint32_t>{0, 1, 2}));
  settings.top_p = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(Reachable(settings, logits), (std::set<uint32_t>{1}));
}

TEST(TokenSampler, TopPAmongEqualsKeepsTheLowestIds) {
  SamplingSettings settings = Warm();
  settings.top_p = 0.9f;
  const std::vector<float> flat(300, 1.0f);
  const std::set<uint32_t> kept = Reachable(settings, flat);
  EXPECT_LE(*kept.rbegin(), 270u) << "ties keep the lowest ids";
  EXPECT_GT(kept.size(), 260u);
}

TEST(TokenSampler, ATopKOfManyKeepsTheHighest) {
  SamplingSettings settings = Warm(1e6f);
  settings.top_k = 600;
  std::vector<float> logits(1000);
  for (uint32_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(i * 379 % 1000 / 2);  // in pairs
  const std::set<uint32_t> kept = Reachable(settings, logits);
  EXPECT_GT(kept.size(), 550u);
  for (const uint32_t token : kept) EXPECT_GE(logits[token], 200.0f) << token;
}

TEST(TokenSampler, MinPDropsWhatIsFarBelowTheHighest) {
  SamplingSettings settings = Warm();
  const std::vector<float> logits = {std::log(0.1f), std::log(0.5f), std::log(0.4f)};
  settings.min_p = 0.25f;
  EXPECT_EQ(Reachable(settings, logits), (std::set<uint32_t>{1, 2}));
  settings.min_p = 1;
  EXPECT_EQ(Reachable(settings, logits), (std::set<uint32_t>{1}));
}

TEST(TokenSampler, AVeryLowTemperatureIsGreedy) {
  EXPECT_EQ(Reachable(Warm(std::numeric_limits<float>::denorm_min()), {1, 1.0001f, 0.5f}), (std::set<uint32_t>{1}));
}

TEST(TokenSampler, AVeryHighTemperatureIsUniform) {
  EXPECT_EQ(Reachable(Warm(std::numeric_limits<float>::max()), {-100, 100, 0}), (std::set<uint32_t>{0, 1, 2}));
}

TEST(TokenSampler, ExtremeFiniteLogitsAreNoProblem) {
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(Reachable(Warm(), {-most, most, -most}), (std::set<uint32_t>{1}));
}

TEST(TokenSampler, MinusInfinityIsNeverChosen) {
  EXPECT_EQ(Reachable(Warm(1e30f), {-kInfinity, 1, -kInfinity, 0}), (std::set<uint32_t>{1, 3}));
  EXPECT_EQ(TokenSampler(SamplingSettings{}, 1).Pick(std::vector<float>{-kInfinity, -5}, 0), 1u);
}

TEST(TokenSampler, BadLogitsAreAnErrorThatNamesTheToken) {
  for (const SamplingSettings& settings : {SamplingSettings{}, Warm()}) {
    EXPECT_THAT(Sentence(settings, {1, NAN, 2}), AllOf(HasSubstr("token 1 of 3"), HasSubstr("not a number")));
    EXPECT_THAT(Sentence(settings, {1, 2, kInfinity}), AllOf(HasSubstr("token 2 of 3"), HasSubstr("plus infinity")));
    EXPECT_THAT(Sentence(settings, {-kInfinity, -kInfinity}), HasSubstr("all 2 logits are minus infinity"));
    EXPECT_THAT(Sentence(settings, {}), HasSubstr("no logits"));
    std::vector<float> many(100, 0.0f);
    many[40] = NAN;
    EXPECT_THAT(Sentence(settings, many), HasSubstr("token 40 of 100"));
  }
}

TEST(TokenSampler, CandidatesAreChosenLikeLogitsOfTheSameTokens) {
  SamplingSettings settings = Warm();
  settings.top_k = 3;
  settings.min_p = 0.05f;
  const std::vector<float> logits = {2, -kInfinity, 1, 3, -kInfinity, 0};
  const std::vector<TokenCandidate> allowed = {{2, 0}, {1, 2}, {3, 3}, {0, 5}};
  TokenSampler of_logits(settings, 9), of_candidates(settings, 9);
  for (uint64_t draw = 0; draw < 200; ++draw) {
    ASSERT_EQ(of_logits.Pick(logits, draw), of_candidates.Pick(allowed, draw)) << draw;
  }
  TokenSampler greedy(SamplingSettings{}, 0);
  EXPECT_EQ(greedy.Pick(allowed, 0), 3u);
  EXPECT_EQ(greedy.Pick(std::vector<TokenCandidate>{{1, 4}, {1, 9}}, 0), 4u);
}

TEST(TokenSampler, BadCandidatesAreAnError) {
  TokenSampler sampler(Warm(), 0);
  EXPECT_THROW(sampler.Pick(std::vector<TokenCandidate>{}, 0), Error);
  EXPECT_THROW(sampler.Pick(std::vector<TokenCandidate>{{NAN, 3}}, 0), Error);
  EXPECT_THROW(sampler.Pick(std::vector<TokenCandidate>{{-kInfinity, 3}}, 0), Error);
}

}  // namespace
}  // namespace owml
