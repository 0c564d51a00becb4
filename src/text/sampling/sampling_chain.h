// From logits to the next token of one generation: penalties, then the choice; the n-th token takes the n-th draw.
// Used by text generation for each token, and for each verified row of a speculative step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text/sampling/token_penalties.h"
#include "text/sampling/token_sampler.h"

namespace owml {

class SamplingChain {
 public:
  // `prompt` is what comes before the first generated token; it is not kept.
  SamplingChain(const SamplingSettings& settings, uint64_t seed, std::span<const uint32_t> prompt);

  // The next token for logits indexed by token. Throws as TokenSampler::Pick.
  uint32_t Pick(std::span<const float> logits);

  // The same in two steps, for a filter between them: logits after penalties, until the next call, ...
  std::span<const float> Penalize(std::span<const float> logits);
  // ... and the choice among candidates in ascending order of their tokens.
  uint32_t Pick(std::span<const TokenCandidate> candidates) { return sampler_.Pick(candidates, generated_); }

  // How many of the highest logits settle what Pick gives, as TokenSampler::DecidingCount; 0 = every logit may count.
  uint32_t DecidingCount() const noexcept { return penalties_.active() ? 0 : sampler_.DecidingCount(); }

  // Pick where only these are known, in ascending order of their tokens, of a row of `row_size`.
  uint32_t PickOfHighest(std::span<const TokenCandidate> highest, size_t row_size) {
    return sampler_.PickOfHighest(highest, row_size, generated_);
  }

  // The token that Pick gave becomes part of the sequence.
  void Accept(uint32_t token);

 private:
  TokenPenalties penalties_;
  TokenSampler sampler_;
  uint64_t generated_ = 0;
  std::vector<float> penalized_;
};

}  // namespace owml
