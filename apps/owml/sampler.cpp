// The sampling chain of the command line, until the generation task takes over.
// One draw consumes one 64-bit number, so a seed fixes the text for the same logits.
#include "sampler.h"

#include <algorithm>
#include <cmath>

#include "failure.h"

namespace owml::cli {

uint32_t Sampler::Pick(std::span<const float> logits) {
  size_t best = logits.size();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i]) && (best == logits.size() || logits[i] > logits[best])) best = i;
  }
  if (best == logits.size()) throw Failure("the model's logits hold no finite number");
  if (settings_.temperature <= 0) return static_cast<uint32_t>(best);

  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i])) candidates_.emplace_back(logits[i], static_cast<uint32_t>(i));
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  if (settings_.top_k && settings_.top_k < candidates_.size()) candidates_.resize(settings_.top_k);
  double total = 0;
  for (auto& [logit, id] : candidates_) {
    logit = std::exp((logit - logits[best]) / settings_.temperature);
    total += logit;
  }
  size_t kept = candidates_.size();
  if (settings_.top_p < 1) {
    double sum = 0;
    for (kept = 0; kept < candidates_.size() && sum < settings_.top_p * total; ++kept) sum += candidates_[kept].first;
    total = sum;
  }
  double draw = static_cast<double>(generator_() >> 11) * 0x1p-53 * total;
  for (size_t i = 0; i + 1 < kept; ++i) {
    draw -= candidates_[i].first;
    if (draw < 0) return candidates_[i].second;
  }
  return candidates_[kept - 1].second;
}

}  // namespace owml::cli
