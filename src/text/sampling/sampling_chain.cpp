// Penalties work on a copy: the logits belong to the model.
// See sampling_chain.h.
#include "text/sampling/sampling_chain.h"

namespace owml {

SamplingChain::SamplingChain(const SamplingSettings& settings, uint64_t seed, std::span<const uint32_t> prompt)
    : penalties_(settings, prompt), sampler_(settings, seed) {}

uint32_t SamplingChain::Pick(std::span<const float> logits) { return sampler_.Pick(Penalize(logits), generated_); }

std::span<const float> SamplingChain::Penalize(std::span<const float> logits) {
  if (!penalties_.active()) return logits;
  penalized_.assign(logits.begin(), logits.end());
  penalties_.Apply(penalized_);
  return penalized_;
}

void SamplingChain::Accept(uint32_t token) {
  penalties_.Accept(token);
  ++generated_;
}

}  // namespace owml
