// Chooses one of many candidates: greedily, or by temperature, top-k, top-p, min-p and a draw.
// The last step of the sampling chain; behind a constraint it sees only what the constraint allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "text/sampling/counter_random.h"
#include "text/sampling/sampling_settings.h"

namespace owml {

struct TokenCandidate {
  float logit;
  uint32_t token;
};

class TokenSampler {
 public:
  TokenSampler(const SamplingSettings& settings, uint64_t seed) : settings_(settings), random_(seed) {}

  // The choice number `draw` among logits indexed by token. Equal logits go in the order of their tokens, lowest first.
  // Throws ERROR_INVALID_DATA for a NaN or plus infinity, and when nothing is left to choose: minus infinity stands for
  // a token that the model rules out.
  uint32_t Pick(std::span<const float> logits, uint64_t draw);

  // The same among `candidates`, which are in ascending order of their tokens.
  uint32_t Pick(std::span<const TokenCandidate> candidates, uint64_t draw) {
    return Pick(candidates, candidates.size(), draw);
  }

  // How many of the highest logits of a row settle what Pick gives or throws, the lowest token first among equals and
  // one that is no number or plus infinity before all others; 0 = every logit may count.
  uint32_t DecidingCount() const noexcept;

  // Pick for a row of `row_size` logits of which these are the DecidingCount() highest, in ascending order of their
  // tokens.
  uint32_t PickOfHighest(std::span<const TokenCandidate> highest, size_t row_size, uint64_t draw) {
    return Pick(highest, row_size, draw);
  }

 private:
  uint32_t Pick(std::span<const TokenCandidate> candidates, size_t row_size, uint64_t draw);
  // Of logits_ and tokens_, whose highest logit is `highest`.
  uint32_t Draw(float highest, uint64_t draw);
  void KeepTopK();
  void Weigh(float highest);
  void KeepTopP();

  const SamplingSettings settings_;
  const CounterRandom random_;
  // The candidates, side by side because the weights of many are computed at a time.
  std::vector<float> logits_;
  std::vector<uint32_t> tokens_;
  std::vector<double> weights_;  // relative to the highest
  std::vector<TokenCandidate> best_;
  std::vector<double> bucket_sums_;
  std::vector<size_t> edge_;
};

}  // namespace owml
