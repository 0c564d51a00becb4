// From stretches of bytes to runs of pages.
// Stretches are sorted, and those of one node that touch are one.
#include "backend/native/page_plan.h"

#include <algorithm>
#include <map>

namespace owml::native {

void PagePlan::Add(const std::byte* begin, size_t bytes, uint32_t node) {
  if (bytes > 0) stretches_.push_back({const_cast<std::byte*>(begin), bytes, node});
}

std::vector<PagePlan::Stretch> PagePlan::Runs(size_t page) const {
  std::vector<Stretch> sorted = stretches_;
  std::sort(sorted.begin(), sorted.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  std::vector<Stretch> runs;
  const auto add = [&](uintptr_t begin, uintptr_t end, uint32_t node) {
    if (begin >= end) return;
    auto* const at = reinterpret_cast<std::byte*>(begin);
    if (!runs.empty() && runs.back().node == node && runs.back().begin + runs.back().bytes == at) {
      runs.back().bytes += end - begin;
    } else {
      runs.push_back({at, end - begin, node});
    }
  };
  // Bytes of each node in the page that is being filled.
  std::map<uint32_t, size_t> shares;
  uintptr_t filling = 0;
  const auto finish = [&] {
    if (shares.empty()) return;
    const auto most = std::max_element(shares.begin(), shares.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    size_t all = 0;
    for (const auto& [node, bytes] : shares) all += bytes;
    if (2 * all >= page) add(filling, filling + page, most->first);
    shares.clear();
  };
  for (const Stretch& stretch : sorted) {
    uintptr_t at = reinterpret_cast<uintptr_t>(stretch.begin);
    const uintptr_t end = at + stretch.bytes;
    while (at < end) {
      const uintptr_t first = at & ~(uintptr_t{page} - 1);
      if (first != filling) finish();
      filling = first;
      const uintptr_t whole = end & ~(uintptr_t{page} - 1);
      if (at == first && at < whole) {
        add(at, whole, stretch.node);
        at = whole;
      } else {
        const uintptr_t stop = std::min(end, first + page);
        shares[stretch.node] += stop - at;
        at = stop;
      }
    }
  }
  finish();
  return runs;
}

bool PagePlan::Apply(const Topology& topology, size_t page) const {
  bool kept = false;
  for (const Stretch& run : Runs(page)) kept |= topology.Keep(run.begin, run.bytes, run.node);
  return kept;
}

}  // namespace owml::native
