// Counts of the tokens seen, and what they do to the logits.
// See token_penalties.h.
#include "text/sampling/token_penalties.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace owml {
namespace {

// Back to float without leaving the finite numbers, whatever the penalty was.
float Finite(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}

}  // namespace

TokenPenalties::TokenPenalties(const SamplingSettings& settings, std::span<const uint32_t> prompt)
    : settings_(settings),
      repeats_(settings.repetition_penalty != 1.0f),
      counts_(settings.presence_penalty != 0.0f || settings.frequency_penalty != 0.0f) {
  if (!repeats_) return;
  if (settings.repetition_window != 0 && prompt.size() > settings.repetition_window) {
    prompt = prompt.last(settings.repetition_window);
  }
  for (const uint32_t token : prompt) Look(token);
}

void TokenPenalties::Look(uint32_t token) {
  ++in_window_[token];
  if (settings_.repetition_window == 0) return;
  window_.push_back(token);
  if (window_.size() <= settings_.repetition_window) return;
  const auto oldest = in_window_.find(window_.front());
  if (--oldest->second == 0) in_window_.erase(oldest);
  window_.pop_front();
}

void TokenPenalties::Accept(uint32_t token) {
  if (repeats_) Look(token);
  if (counts_) ++generated_[token];
}

void TokenPenalties::Apply(std::span<float> logits) const {
  if (repeats_) {
    const double penalty = settings_.repetition_penalty;
    for (const auto& [token, count] : in_window_) {
      if (token >= logits.size() || !std::isfinite(logits[token])) continue;
      const double logit = logits[token];
      logits[token] = Finite(logit > 0 ? logit / penalty : logit * penalty);
    }
  }
  for (const auto& [token, count] : generated_) {
    if (token >= logits.size() || !std::isfinite(logits[token])) continue;
    logits[token] = Finite(double{logits[token]} - double{settings_.presence_penalty} -
                           double{settings_.frequency_penalty} * count);
  }
}

}  // namespace owml
