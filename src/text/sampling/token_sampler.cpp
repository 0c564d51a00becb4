// The steps in their order. Sums run in one fixed order, so that a seed gives the same token everywhere.
// See token_sampler.h.
#include "text/sampling/token_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "text/sampling/portable_exp.h"

namespace owml {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kRuledOut = -std::numeric_limits<float>::infinity();

bool Higher(const TokenCandidate& a, const TokenCandidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

[[noreturn]] void ThrowBadLogit(uint32_t token, float logit, size_t count) {
  throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "the logit of token " + std::to_string(token) + " of " +
                                                          std::to_string(count) + " is " +
                                                          (std::isnan(logit) ? "not a number" : "plus infinity"));
}

[[noreturn]] void ThrowNothingLeft(size_t count) {
  throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
              count == 0 ? std::string("there are no logits to choose from")
                         : "all " + std::to_string(count) + " logits are minus infinity");
}

// The highest of checked logits. Many lanes, because one comparison after the other would wait for the one before.
float Highest(std::span<const float> logits) {
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> highest;
  std::array<int32_t, kLanes> fine;
  highest.fill(kRuledOut);
  fine.fill(1);
  size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float logit = logits[i + lane];
      fine[lane] &= logit <= kMost;  // false for NaN
      highest[lane] = logit > highest[lane] ? logit : highest[lane];
    }
  }
  for (; i < logits.size(); ++i) {
    fine[0] &= logits[i] <= kMost;
    highest[0] = logits[i] > highest[0] ? logits[i] : highest[0];
  }
  if (std::find(fine.begin(), fine.end(), 0) != fine.end()) {
    const auto bad = std::find_if(logits.begin(), logits.end(), [](float logit) { return !(logit <= kMost); });
    ThrowBadLogit(static_cast<uint32_t>(bad - logits.begin()), *bad, logits.size());
  }
  const float best = *std::max_element(highest.begin(), highest.end());
  if (best == kRuledOut) ThrowNothingLeft(logits.size());
  return best;
}

}  // namespace

uint32_t TokenSampler::Pick(std::span<const float> logits, uint64_t draw) {
  const float highest = Highest(logits);
  if (settings_.temperature == 0) {
    return static_cast<uint32_t>(std::find(logits.begin(), logits.end(), highest) - logits.begin());
  }
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] != kRuledOut) candidates_.push_back({logits[i], static_cast<uint32_t>(i)});
  }
  return Draw(highest, draw);
}

uint32_t TokenSampler::Pick(std::span<const TokenCandidate> candidates, uint64_t draw) {
  const TokenCandidate* best = nullptr;
  candidates_.clear();
  for (const TokenCandidate& candidate : candidates) {
    if (!(candidate.logit <= kMost)) ThrowBadLogit(candidate.token, candidate.logit, candidates.size());
    if (candidate.logit == kRuledOut) continue;
    if (!best || candidate.logit > best->logit) best = &candidate;
    candidates_.push_back(candidate);
  }
  if (!best) ThrowNothingLeft(candidates.size());
  return settings_.temperature == 0 ? best->token : Draw(best->logit, draw);
}

uint32_t TokenSampler::Draw(float highest, uint64_t draw) {
  if (settings_.top_k != 0 && settings_.top_k < candidates_.size()) {
    SortFront(0, settings_.top_k);
    candidates_.resize(settings_.top_k);
  }
  if (settings_.top_p < 1) {
    KeepTopP(highest);
  } else {
    Weigh(highest);
  }
  // The highest weight is 1, so that a candidate's share of the highest probability is its weight.
  double total = 0;
  for (double& weight : weights_) {
    if (weight < settings_.min_p) weight = 0;
    total += weight;
  }
  const double target = random_.Uniform(draw) * total;
  double reached = 0;
  size_t last = 0;
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] == 0) continue;
    reached += weights_[i];
    last = i;
    if (target < reached) break;
  }
  return candidates_[last].token;
}

void TokenSampler::Weigh(float highest) {
  const double temperature = settings_.temperature;
  weights_.resize(candidates_.size());
  for (size_t i = 0; i < candidates_.size(); ++i) {
    weights_[i] = PortableExp((double{candidates_[i].logit} - double{highest}) / temperature);
  }
}

// The fewest candidates, highest first, whose probabilities reach p. Only so many are sorted as are needed.
void TokenSampler::KeepTopP(float highest) {
  Weigh(highest);
  double total = 0;
  for (const double weight : weights_) total += weight;
  const double wanted = double{settings_.top_p} * total;
  double reached = 0;
  size_t kept = 0;
  for (size_t sorted = 0, step = 64; kept < candidates_.size() && reached < wanted; step *= 4) {
    const size_t end = std::min(candidates_.size(), sorted + step);
    SortFront(sorted, end);
    sorted = end;
    for (; kept < sorted && reached < wanted; ++kept) {
      reached += PortableExp((double{candidates_[kept].logit} - double{highest}) / double{settings_.temperature});
    }
  }
  candidates_.resize(std::max<size_t>(kept, 1));
  Weigh(highest);
}

// candidates_[first, last) become the highest of candidates_[first, end), in order.
void TokenSampler::SortFront(size_t first, size_t last) {
  const auto at = [&](size_t i) { return candidates_.begin() + static_cast<ptrdiff_t>(i); };
  std::partial_sort(at(first), at(last), candidates_.end(), Higher);
}

}  // namespace owml
