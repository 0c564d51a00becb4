// Frequencies over 100 000 draws against the closed form of the chain, written here a second time from its definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "text/sampling/sampling_chain.h"

namespace owml {
namespace {

constexpr int kDraws = 100000;

struct Case {
  const char* name;
  SamplingSettings settings;
};

// Distinct values whose shares cross every limit below, some of them tied.
const std::vector<float> kLogits = {2.0f, -1.0f, 0.5f,  3.0f, 1.0f, 3.0f,  -2.5f, 2.25f, 0.0f, 1.5f,
                                    0.5f, -0.5f, 2.75f, 1.0f, 0.0f, -4.0f, 1.75f, -1.5f, 0.75f};
const std::vector<uint32_t> kPrompt = {3, 7, 7, 1, 12, 0};
const std::vector<uint32_t> kGenerated = {5, 5, 9, 2};

// Probabilities by token.
std::vector<double> ClosedForm(const SamplingSettings& s) {
  std::vector<double> x(kLogits.begin(), kLogits.end());
  std::vector<uint32_t> sequence = kPrompt;
  sequence.insert(sequence.end(), kGenerated.begin(), kGenerated.end());
  const size_t window = s.repetition_window ? std::min<size_t>(s.repetition_window, sequence.size()) : sequence.size();
  for (uint32_t token = 0; token < x.size(); ++token) {
    const auto seen = std::count(sequence.end() - static_cast<ptrdiff_t>(window), sequence.end(), token);
    const auto made = std::count(kGenerated.begin(), kGenerated.end(), token);
    if (seen) x[token] = x[token] > 0 ? x[token] / s.repetition_penalty : x[token] * s.repetition_penalty;
    if (made) x[token] -= s.presence_penalty + s.frequency_penalty * static_cast<double>(made);
  }
  std::vector<uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return x[a] > x[b]; });
  if (s.top_k && s.top_k < order.size()) order.resize(s.top_k);
  const auto softmax = [&] {
    std::vector<double> p;
    for (const uint32_t token : order) p.push_back(std::exp((x[token] - x[order[0]]) / s.temperature));
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& share : p) share /= total;
    return p;
  };
  std::vector<double> p = softmax();
  if (s.top_p < 1) {
    double reached = 0;
    size_t kept = 0;
    while (kept < p.size() && reached < s.top_p) reached += p[kept++];
    order.resize(kept);
    p = softmax();
  }
  while (p.back() < s.min_p * p[0]) {
    order.pop_back();
    p.pop_back();
  }
  p = softmax();
  std::vector<double> by_token(x.size());
  for (size_t i = 0; i < order.size(); ++i) by_token[order[i]] = p[i];
  return by_token;
}

// Chance of a chi-square value at least this high: the upper incomplete gamma function by its continued fraction or
// series.
double UpperTail(double chi_square, int degrees) {
  const double a = degrees / 2.0, x = chi_square / 2.0;
  const double front = std::exp(-x + a * std::log(x) - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 1000; ++n) sum += term *= x / (a + n);
    return 1 - sum * front;
  }
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (int n = 1; n < 1000; ++n) {
    const double an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
  }
  return front * h;
}

SamplingSettings With(void (*change)(SamplingSettings&)) {
  SamplingSettings settings;
  settings.temperature = 1;
  change(settings);
  return settings;
}

void ExpectFrequencies(const std::vector<int>& counts, const std::vector<double>& expected) {
  double chi_square = 0;
  int degrees = -1;
  for (size_t token = 0; token < counts.size(); ++token) {
    const double mean = expected[token] * kDraws;
    if (mean == 0) {
      EXPECT_EQ(counts[token], 0) << "token " << token << " is ruled out";
      continue;
    }
    ASSERT_GT(mean, 5) << "too rare for the test";
    chi_square += (counts[token] - mean) * (counts[token] - mean) / mean;
    ++degrees;
  }
  ASSERT_GT(degrees, 0);
  EXPECT_GT(UpperTail(chi_square, degrees), 0.001) << "chi-square " << chi_square;
}

class SamplingStatistics : public testing::TestWithParam<Case> {};

TEST_P(SamplingStatistics, FirstDrawsOfManySeedsFollowTheClosedForm) {
  std::vector<int> counts(kLogits.size());
  // A new sequence for each draw, so that penalties see the same history each time.
  for (int i = 0; i < kDraws; ++i) {
    SamplingChain chain(GetParam().settings, 11000003 + static_cast<uint64_t>(i), kPrompt);
    for (const uint32_t token : kGenerated) chain.Accept(token);
    ++counts[chain.Pick(kLogits)];
  }
  ExpectFrequencies(counts, ClosedForm(GetParam().settings));
}

TEST_P(SamplingStatistics, SuccessiveDrawsOfOneSeedFollowTheClosedForm) {
  // The penalties are applied beforehand: the chain would go on counting.
  TokenPenalties penalties(GetParam().settings, kPrompt);
  for (const uint32_t token : kGenerated) penalties.Accept(token);
  std::vector<float> logits = kLogits;
  penalties.Apply(logits);
  TokenSampler sampler(GetParam().settings, 2024);
  std::vector<int> counts(kLogits.size());
  for (uint64_t draw = 0; draw < kDraws; ++draw) ++counts[sampler.Pick(logits, draw)];
  ExpectFrequencies(counts, ClosedForm(GetParam().settings));
}

INSTANTIATE_TEST_SUITE_P(
    Chain, SamplingStatistics,
    testing::Values(Case{"TemperatureOne", With([](SamplingSettings&) {})},
                    Case{"LowTemperature", With([](SamplingSettings& s) { s.temperature = 0.9f; })},
                    Case{"HighTemperature", With([](SamplingSettings& s) { s.temperature = 2.5f; })},
                    Case{"TopK", With([](SamplingSettings& s) { s.top_k = 5; })},
                    Case{"TopP", With([](SamplingSettings& s) { s.top_p = 0.7f; })},
                    Case{"MinP", With([](SamplingSettings& s) { s.min_p = 0.15f; })},
                    Case{"RepetitionPenalty", With([](SamplingSettings& s) { s.repetition_penalty = 1.5f; })},
                    Case{"RepetitionPenaltyWindow", With([](SamplingSettings& s) {
                           s.repetition_penalty = 1.5f;
                           s.repetition_window = 5;
                         })},
                    Case{"PresencePenalty", With([](SamplingSettings& s) { s.presence_penalty = 0.8f; })},
                    Case{"FrequencyPenalty", With([](SamplingSettings& s) { s.frequency_penalty = 0.6f; })},
                    Case{"Everything",
                         With([](SamplingSettings& s) { s = {1.4f, 14, 0.96f, 0.08f, 1.2f, 8, 0.3f, 0.25f}; })}),
    [](const testing::TestParamInfo<Case>& test) { return test.param.name; });

TEST(UpperTailOfTheTest, KnowsTheTable) {  // of chi-square quantiles
  EXPECT_NEAR(UpperTail(3.841, 1), 0.05, 1e-4);
  EXPECT_NEAR(UpperTail(18.307, 10), 0.05, 1e-4);
  EXPECT_NEAR(UpperTail(29.588, 10), 0.001, 1e-5);
  EXPECT_NEAR(UpperTail(4.865, 10), 0.9, 1e-3);
}

}  // namespace
}  // namespace owml
