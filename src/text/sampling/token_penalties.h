// Lowers the logits of tokens that a sequence already has.
// The first step of the sampling chain.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>

#include "text/sampling/sampling_settings.h"

namespace owml {

class TokenPenalties {
 public:
  // Repetition looks at prompt and generated tokens, presence and frequency at generated ones only.
  TokenPenalties(const SamplingSettings& settings, std::span<const uint32_t> prompt);

  bool active() const noexcept { return repeats_ || counts_; }

  // A generated token joins the sequence.
  void Accept(uint32_t token);

  // Changes `logits` in place, which are indexed by token; repetition first, then presence and frequency. Finite logits
  // stay finite.
  void Apply(std::span<float> logits) const;

 private:
  void Look(uint32_t token);

  const SamplingSettings settings_;
  const bool repeats_;           // the repetition penalty is on
  const bool counts_;            // one of the two others is
  std::deque<uint32_t> window_;  // in order, when the window is limited
  std::unordered_map<uint32_t, uint32_t> in_window_;
  std::unordered_map<uint32_t, uint32_t> generated_;
};

}  // namespace owml
