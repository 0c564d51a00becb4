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

  // The token that Pick gave becomes part of the sequence.
  void Accept(uint32_t token);

 private:
  TokenPenalties penalties_;
  TokenSampler sampler_;
  uint64_t generated_ = 0;
  std::vector<float> penalized_;
};

}  // namespace owml
