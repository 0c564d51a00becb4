// A double array: the child of a unit for a byte stands at base XOR byte.
// Called through token_trie.h.
#include "text/tokenizer/token_trie.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace owml::text {
namespace {

constexpr uint32_t kRootParent = UINT32_MAX - 1;  // taken, and nobody's child

// The first eight bytes as a number that is ordered as they are.
uint64_t SortKey(std::string_view text) {
  uint64_t key = 0;
  for (size_t i = 0; i < sizeof(key); ++i) key = key << 8 | (i < text.size() ? static_cast<uint8_t>(text[i]) : 0);
  return key;
}

// In the order of their texts; equal ones stay in theirs.
void Sort(std::vector<std::pair<std::string_view, uint32_t>>* entries) {
  std::vector<std::pair<uint64_t, uint32_t>> order;  // key and place: most texts differ in their keys
  order.reserve(entries->size());
  for (const auto& [text, value] : *entries) order.emplace_back(SortKey(text), static_cast<uint32_t>(order.size()));
  std::sort(order.begin(), order.end(), [entries](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    const int compared = (*entries)[a.second].first.compare((*entries)[b.second].first);
    return compared != 0 ? compared < 0 : a.second < b.second;
  });
  std::vector<std::pair<std::string_view, uint32_t>> sorted;
  sorted.reserve(order.size());
  for (const auto& [key, place] : order) sorted.push_back((*entries)[place]);
  *entries = std::move(sorted);
}

}  // namespace

TokenTrie::TokenTrie(std::vector<std::pair<std::string_view, uint32_t>> entries) {
  std::erase_if(entries, [](const auto& entry) { return entry.first.empty(); });
  if (entries.empty()) return;
  Sort(&entries);

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
  // Units nobody has taken, a bit for each, in blocks of 256. Only the last few blocks are worth a search.
  std::vector<std::array<uint64_t, 4>> free_units = {{~uint64_t{1}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}};
  const auto is_free = [&free_units](uint32_t unit) {
    return (free_units[unit >> 8][unit >> 6 & 3] >> (unit & 63)) & 1;
  };
  // The base in a block that leaves room for all labels; the children stay within one block, as XOR with a byte does.
  const auto find_base = [&](uint32_t block, const std::vector<uint8_t>& labels) {
    for (uint32_t word = 0; word < 4; ++word) {
      for (uint64_t bits = free_units[block][word]; bits != 0; bits &= bits - 1) {
        const uint32_t first = block << 8 | word << 6 | static_cast<uint32_t>(std::countr_zero(bits));
        const uint32_t base = first ^ labels[0];
        if (std::all_of(labels.begin() + 1, labels.end(), [&](uint8_t label) { return is_free(base ^ label); })) {
          return base;
        }
      }
    }
    return UINT32_MAX;
  };
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
    constexpr size_t kSearched = 8;
    uint32_t base = UINT32_MAX;
    for (size_t block = free_units.size() - std::min(free_units.size(), kSearched); base == UINT32_MAX; ++block) {
      if (block == free_units.size()) {
        units_.resize(units_.size() + 256);
        free_units.push_back({~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}});
      }
      base = find_base(static_cast<uint32_t>(block), labels);
    }
    units_[part.unit].base = base;
    for (size_t i = begin; i < part.end;) {
      const auto label = static_cast<uint8_t>(entries[i].first[part.depth]);
      size_t stop = i + 1;
      while (stop < part.end && static_cast<uint8_t>(entries[stop].first[part.depth]) == label) ++stop;
      const uint32_t child = base ^ label;
      units_[child].parent = part.unit;
      units_[child].label = label;
      free_units[child >> 8][child >> 6 & 3] &= ~(uint64_t{1} << (child & 63));
      open.push_back({i, stop, part.depth + 1, child});
      i = stop;
    }
  }
}

}  // namespace owml::text
