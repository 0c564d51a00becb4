// A double array: the child of a unit for a byte stands at base XOR byte.
// Called through token_trie.h.
#include "text/tokenizer/token_trie.h"

#include <algorithm>
#include <bitset>

namespace owml::text {
namespace {

constexpr uint32_t kRootParent = UINT32_MAX - 1;  // taken, and nobody's child

}  // namespace

TokenTrie::TokenTrie(std::vector<std::pair<std::string_view, uint32_t>> entries) {
  std::erase_if(entries, [](const auto& entry) { return entry.first.empty(); });
  if (entries.empty()) return;
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

  // A part of the sorted entries that share their first `depth` bytes, and the unit of these.
  struct Part {
    size_t begin;
    size_t end;
    size_t depth;
    uint32_t unit;
  };
  units_.resize(256);
  units_[0].parent = kRootParent;
  std::vector<Part> open = {{0, entries.size(), 0, 0}};
  size_t block = 0;  // of 256 units; those before it are full, or hard to fill
  std::vector<uint32_t> used_in_block = {1};
  std::vector<uint8_t> labels;
  while (!open.empty()) {
    const Part part = open.back();
    open.pop_back();
    size_t begin = part.begin;
    while (begin < part.end && entries[begin].first.size() == part.depth) {
      units_[part.unit].value = entries[begin].second;
      ++begin;
    }
    if (begin == part.end) continue;
    labels.clear();
    for (size_t i = begin; i < part.end; ++i) {
      const auto label = static_cast<uint8_t>(entries[i].first[part.depth]);
      if (labels.empty() || labels.back() != label) labels.push_back(label);
    }
    // The children stay within one block, as XOR with a byte does.
    uint32_t base = UINT32_MAX;
    const size_t tried_first = block;
    for (size_t candidate = tried_first; base == UINT32_MAX; ++candidate) {
      if (candidate * 256 == units_.size()) {
        units_.resize(units_.size() + 256);
        used_in_block.push_back(0);
      }
      if (used_in_block[candidate] + labels.size() > 256) continue;
      for (uint32_t low = 0; low < 256; ++low) {
        const uint32_t start = static_cast<uint32_t>(candidate * 256) + low;
        if (std::all_of(labels.begin(), labels.end(),
                        [&](uint8_t label) { return units_[start ^ label].parent == UINT32_MAX; })) {
          base = start;
          break;
        }
      }
      // Only the last few blocks are worth a search.
      if (base == UINT32_MAX && candidate + 1 == used_in_block.size()) continue;
    }
    while (block + 1 < used_in_block.size() && (used_in_block[block] > 250 || used_in_block.size() - block > 16))
      ++block;
    units_[part.unit].base = base;
    for (size_t i = begin; i < part.end;) {
      const auto label = static_cast<uint8_t>(entries[i].first[part.depth]);
      size_t stop = i + 1;
      while (stop < part.end && static_cast<uint8_t>(entries[stop].first[part.depth]) == label) ++stop;
      const uint32_t child = base ^ label;
      units_[child].parent = part.unit;
      units_[child].label = label;
      ++used_in_block[child / 256];
      open.push_back({i, stop, part.depth + 1, child});
      i = stop;
    }
  }
}

}  // namespace owml::text
