// An index over pairs of tokens; longer endings are compared.
// See prompt_lookup.h.
#include "tasks/text_generation/prompt_lookup.h"

#include <algorithm>

namespace owml {
namespace {

// A longer common ending says no more about what follows, and more places cost time.
constexpr size_t kLongestEnding = 16;
constexpr size_t kMostPlaces = 64;

uint64_t Pair(uint32_t first, uint32_t second) { return uint64_t{first} << 32 | second; }

}  // namespace

std::vector<uint32_t> PromptLookup::Propose(std::span<const uint32_t> sequence, uint32_t most) {
  const size_t size = sequence.size();
  if (size < indexed_) *this = PromptLookup();
  // The pair at the very end is looked for, so that it is not indexed before something follows it.
  for (size_t end = std::max<size_t>(indexed_, 2); end < size; ++end) {
    ends_[Pair(sequence[end - 2], sequence[end - 1])].push_back(static_cast<uint32_t>(end));
  }
  indexed_ = size;
  if (size < 2) return {};
  const auto found = ends_.find(Pair(sequence[size - 2], sequence[size - 1]));
  if (found == ends_.end()) return {};
  const std::vector<uint32_t>& places = found->second;
  size_t best = 0;
  size_t longest = 0;
  for (size_t i = places.size(); i > 0 && places.size() - i < kMostPlaces && longest < kLongestEnding; --i) {
    const size_t end = places[i - 1];
    size_t length = 2;
    while (length < kLongestEnding && length < end && sequence[end - 1 - length] == sequence[size - 1 - length]) {
      ++length;
    }
    if (length <= longest) continue;
    longest = length;
    best = end;
  }
  const auto from = sequence.begin() + static_cast<ptrdiff_t>(best);
  return {from, from + static_cast<ptrdiff_t>(std::min<size_t>(most, size - best))};
}

}  // namespace owml
