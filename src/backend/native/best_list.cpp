// A sorted list that most pieces do not get into: one comparison with its end tells.
// See best_list.h.
#include "backend/native/best_list.h"

#include <algorithm>
#include <limits>

namespace owml::native {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kNothing = -std::numeric_limits<float>::infinity();

// No number that can be sampled.
bool IsBad(float logit) { return !(logit <= kMost); }

void Insert(std::span<TokenLogit> best, const TokenLogit& entry) {
  if (!IsBefore(entry, best.back())) return;
  size_t at = best.size() - 1;
  for (; at > 0 && IsBefore(entry, best[at - 1]); --at) best[at] = best[at - 1];
  best[at] = entry;
}

}  // namespace

bool IsBefore(const TokenLogit& a, const TokenLogit& b) {
  if (IsBad(a.logit) != IsBad(b.logit)) return IsBad(a.logit);
  if (!IsBad(a.logit) && a.logit != b.logit) return a.logit > b.logit;
  return a.token < b.token;
}

void Clear(std::span<TokenLogit> best) { std::ranges::fill(best, TokenLogit{INT32_MAX, kNothing}); }

void Merge(std::span<TokenLogit> best, std::span<const float> logits, int32_t first) {
  float highest = kNothing;
  int32_t bad = 0;
  for (const float logit : logits) {
    highest = logit > highest ? logit : highest;
    bad |= IsBad(logit);
  }
  if (!bad && highest < best.back().logit) return;
  for (size_t i = 0; i < logits.size(); ++i) Insert(best, {first + static_cast<int32_t>(i), logits[i]});
}

void Merge(std::span<TokenLogit> best, std::span<const TokenLogit> others) {
  for (const TokenLogit& entry : others) Insert(best, entry);
}

}  // namespace owml::native
