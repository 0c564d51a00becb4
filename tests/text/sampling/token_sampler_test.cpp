#include "text/sampling/token_sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <random>
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

// The highest `count` of a row, as PickOfHighest takes them.
std::vector<TokenCandidate> HighestOf(const std::vector<float>& row, size_t count) {
  const auto bad = [](float logit) { return !(logit < kInfinity); };
  std::vector<TokenCandidate> all;
  for (const float logit : row) all.push_back({logit, static_cast<uint32_t>(all.size())});
  std::ranges::stable_sort(all, [&](const TokenCandidate& a, const TokenCandidate& b) {
    return bad(a.logit) || bad(b.logit) ? bad(a.logit) && !bad(b.logit) : a.logit > b.logit;
  });
  all.resize(count);
  std::ranges::sort(all, {}, &TokenCandidate::token);
  return all;
}

// Rows of few values, so that there are ties at every place, with more or fewer tokens ruled out than top-k keeps.
TEST(TokenSampler, TheDecidingLogitsAloneGiveTheChoiceOfTheWholeRow) {
  std::mt19937 random(7);
  size_t cut = 0, kept = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<float> row(10 + random() % 60);
    const uint32_t values = round % 3 == 0 ? 5 : 100000, ruled_out = random() % 100;
    for (float& logit : row) {
      logit = random() % 100 < ruled_out ? -kInfinity : static_cast<float>(random() % values) * 5 / values - 2.5f;
    }
    row[random() % row.size()] = 1;
    SamplingSettings settings = Warm(round % 10 == 0 ? 0 : 0.3f + static_cast<float>(random() % 10) / 5);
    settings.top_k = 1 + random() % (static_cast<uint32_t>(row.size()) - 1);
    if (round % 2) settings.top_p = 0.05f + static_cast<float>(random() % 95) / 100;
    if (round % 5 == 0) settings.min_p = static_cast<float>(random() % 50) / 100;
    TokenSampler sampler(settings, 3);
    const uint32_t count = sampler.DecidingCount();
    ASSERT_EQ(count, settings.temperature == 0 ? 1 : settings.top_k + 1);
    const std::vector<TokenCandidate> highest = HighestOf(row, count);
    const auto possible =
        static_cast<size_t>(std::ranges::count_if(row, [](float logit) { return logit > -kInfinity; }));
    ++(possible > settings.top_k ? cut : kept);
    for (uint64_t draw = 0; draw < 20; ++draw) {
      ASSERT_EQ(sampler.PickOfHighest(highest, row.size(), draw), sampler.Pick(row, draw)) << "round " << round;
    }
  }
  EXPECT_GT(cut, 500u);
  EXPECT_GT(kept, 500u);
}

TEST(TokenSampler, WithoutTopKEveryLogitMayDecide) {
  EXPECT_EQ(TokenSampler(Warm(), 1).DecidingCount(), 0u);
  SamplingSettings all = Warm();
  all.top_k = UINT32_MAX;
  EXPECT_EQ(TokenSampler(all, 1).DecidingCount(), 0u);
  EXPECT_EQ(TokenSampler(SamplingSettings{}, 1).DecidingCount(), 1u);
}

TEST(TokenSampler, BadRowsHaveTheSameSentenceInTheirDecidingLogits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  SamplingSettings warm = Warm();
  warm.top_k = 2;
  for (const SamplingSettings& settings : {SamplingSettings{}, warm}) {
    for (const std::vector<float>& row :
         {std::vector<float>{1, nan, 2, kInfinity}, std::vector<float>{9, 1, 2, nan},
          std::vector<float>{1, 2, kInfinity, nan}, std::vector<float>(4, -kInfinity)}) {
      TokenSampler sampler(settings, 1);
      try {
        sampler.PickOfHighest(HighestOf(row, sampler.DecidingCount()), row.size(), 0);
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), Sentence(settings, row));
      }
    }
  }
}

}  // namespace
}  // namespace owml
