// The expected tokens of a step over its expected time, for each number of drafts.
// See draft_pacing.h.
#include "tasks/text_generation/draft_pacing.h"

#include <algorithm>
#include <vector>

namespace owml {
namespace {

constexpr size_t kRecent = 9;
constexpr double kFade = 0.9;            // of older drafts' results with each step
constexpr double kWorthIt = 1.03;        // times the rate of plain steps; less is noise
constexpr uint32_t kTryAgainAfter = 16;  // steps without drafts
constexpr size_t kFewPlain = 3;          // measured; until then a plain step comes after so many with drafts
constexpr uint32_t kMeasureAfter = 48;   // steps with drafts, until one without is measured again

}  // namespace

void DraftPacing::Recent::Add(double value) {
  values_.push_back(value);
  if (values_.size() > kRecent) values_.pop_front();
}

double DraftPacing::Recent::Middle() const {
  std::vector<double> sorted(values_.begin(), values_.end());
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

uint32_t DraftPacing::Count() const {
  if (most_ == 0 || plain_.size() == 0) return 0;
  if (extra_.size() == 0) return most_;
  if (plain_.size() < kFewPlain && since_plain_ >= kFewPlain) return 0;
  const double p = std::min(right_ / judged_, 0.999);
  const double plain = plain_.Middle();
  const double extra = std::max(0.0, extra_.Middle());
  uint32_t best = 0;
  double best_rate = kWorthIt;  // tokens in the time of a plain step
  double expected = 1;          // tokens: the first, the second if the first draft is right, ...
  double all_right = 1;
  for (uint32_t count = 1; count <= most_; ++count) {
    all_right *= p;
    expected += all_right;
    const double rate = expected * plain / (plain + count * extra);
    if (rate <= best_rate) continue;
    best_rate = rate;
    best = count;
  }
  if (best == 0) return since_drafts_ >= kTryAgainAfter ? 1 : 0;
  return since_plain_ >= kMeasureAfter ? 0 : best;
}

void DraftPacing::Observe(uint32_t drafted, uint32_t accepted, double seconds) {
  if (drafted == 0) {
    plain_.Add(seconds);
    since_plain_ = 0;
    ++since_drafts_;
    return;
  }
  since_drafts_ = 0;
  ++since_plain_;
  if (plain_.size() != 0) extra_.Add((seconds - plain_.Middle()) / drafted);
  right_ = kFade * right_ + accepted;
  judged_ = kFade * judged_ + std::min(accepted + 1, drafted);
}

}  // namespace owml
