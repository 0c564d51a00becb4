// The steps in their order. Sums run in one fixed order, so that a seed gives the same token everywhere.
// See token_sampler.h.
#include "text/sampling/token_sampler.h"

#include <algorithm>
#include <array>
#include <bit>
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

// A heap of the best so far costs less than a selection among all, up to about this many.
constexpr uint32_t kHeapTopK = 512;

// Weights from 0 to 1 by exponent and three bits more; a higher weight never has a lower bucket.
constexpr int kBucketShift = 49;
constexpr size_t kBuckets = (std::bit_cast<uint64_t>(1.0) >> kBucketShift) + 1;

size_t BucketOf(double weight) { return static_cast<size_t>(std::bit_cast<uint64_t>(weight) >> kBucketShift); }

}  // namespace

uint32_t TokenSampler::Pick(std::span<const float> logits, uint64_t draw) {
  const float highest = Highest(logits);
  if (settings_.temperature == 0) {
    return static_cast<uint32_t>(std::find(logits.begin(), logits.end(), highest) - logits.begin());
  }
  logits_.resize(logits.size());
  tokens_.resize(logits.size());
  size_t count = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    logits_[count] = logits[i];
    tokens_[count] = static_cast<uint32_t>(i);
    count += logits[i] != kRuledOut;
  }
  logits_.resize(count);
  tokens_.resize(count);
  return Draw(highest, draw);
}

uint32_t TokenSampler::Pick(std::span<const TokenCandidate> candidates, size_t row_size, uint64_t draw) {
  const TokenCandidate* best = nullptr;
  logits_.clear();
  tokens_.clear();
  for (const TokenCandidate& candidate : candidates) {
    if (!(candidate.logit <= kMost)) ThrowBadLogit(candidate.token, candidate.logit, row_size);
    if (candidate.logit == kRuledOut) continue;
    if (!best || candidate.logit > best->logit) best = &candidate;
    logits_.push_back(candidate.logit);
    tokens_.push_back(candidate.token);
  }
  if (!best) ThrowNothingLeft(row_size);
  return settings_.temperature == 0 ? best->token : Draw(best->logit, draw);
}

// One more than top-k keeps: whether there are more decides in which order those that stay are added up.
uint32_t TokenSampler::DecidingCount() const noexcept {
  if (settings_.temperature == 0) return 1;
  return settings_.top_k == 0 || settings_.top_k == UINT32_MAX ? 0 : settings_.top_k + 1;
}

uint32_t TokenSampler::Draw(float highest, uint64_t draw) {
  if (settings_.top_k != 0 && settings_.top_k < logits_.size()) KeepTopK();
  Weigh(highest);
  if (settings_.top_p < 1) KeepTopP();
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
  return tokens_[last];
}

// The k highest, in descending order.
void TokenSampler::KeepTopK() {
  const size_t k = settings_.top_k;
  const size_t first = k <= kHeapTopK ? k : logits_.size();
  best_.resize(first);
  for (size_t i = 0; i < first; ++i) best_[i] = {logits_[i], tokens_[i]};
  if (k <= kHeapTopK) {
    std::make_heap(best_.begin(), best_.end(), Higher);  // the lowest of them is in front
    for (size_t i = k; i < logits_.size(); ++i) {
      if (!(logits_[i] > best_.front().logit)) continue;  // an equal one has the higher token
      std::pop_heap(best_.begin(), best_.end(), Higher);
      best_.back() = {logits_[i], tokens_[i]};
      std::push_heap(best_.begin(), best_.end(), Higher);
    }
  } else {
    std::nth_element(best_.begin(), best_.begin() + static_cast<ptrdiff_t>(k), best_.end(), Higher);
    best_.resize(k);
  }
  std::sort(best_.begin(), best_.end(), Higher);
  logits_.resize(k);
  tokens_.resize(k);
  for (size_t i = 0; i < k; ++i) {
    logits_[i] = best_[i].logit;
    tokens_[i] = best_[i].token;
  }
}

void TokenSampler::Weigh(float highest) {
  const double temperature = settings_.temperature;
  const double top = highest;
  weights_.resize(logits_.size());
  for (size_t i = 0; i < logits_.size(); ++i) weights_[i] = PortableExp((logits_[i] - top) / temperature);
}

// The fewest candidates, highest first, whose probabilities reach p; their order stays. Nothing is sorted but the
// bucket of weights in which p is reached.
void TokenSampler::KeepTopP() {
  bucket_sums_.assign(kBuckets, 0.0);
  double total = 0;
  for (const double weight : weights_) {
    bucket_sums_[BucketOf(weight)] += weight;
    total += weight;
  }
  const double wanted = double{settings_.top_p} * total;
  double reached = 0;
  size_t bucket = kBuckets - 1;
  while (bucket > 0 && reached + bucket_sums_[bucket] < wanted) reached += bucket_sums_[bucket--];

  edge_.clear();
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (BucketOf(weights_[i]) == bucket) edge_.push_back(i);
  }
  const auto higher = [this](size_t a, size_t b) { return Higher({logits_[a], tokens_[a]}, {logits_[b], tokens_[b]}); };
  std::sort(edge_.begin(), edge_.end(), higher);
  size_t kept_of_edge = 0;
  while (kept_of_edge < edge_.size() && reached < wanted) reached += weights_[edge_[kept_of_edge++]];

  size_t kept = 0;
  const size_t last = kept_of_edge == 0 ? 0 : edge_[kept_of_edge - 1];
  const TokenCandidate cut = {logits_[last], tokens_[last]};
  for (size_t i = 0; i < weights_.size(); ++i) {
    const size_t its = BucketOf(weights_[i]);
    const bool on_edge = its == bucket && kept_of_edge != 0 && !Higher(cut, {logits_[i], tokens_[i]});
    if (its <= bucket && !on_edge) continue;
    logits_[kept] = logits_[i];
    tokens_[kept] = tokens_[i];
    weights_[kept++] = weights_[i];
  }
  logits_.resize(kept);
  tokens_.resize(kept);
  weights_.resize(kept);
}

}  // namespace owml
