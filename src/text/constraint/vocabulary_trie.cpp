// Sorts the entries and cuts them into nodes.
// Called when a vocabulary is prepared, and for the ends of tokens that leave a rule.
#include "text/constraint/vocabulary_trie.h"

#include <algorithm>

namespace owml::text {

VocabularyTrie::VocabularyTrie(std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.bytes != b.bytes ? a.bytes < b.bytes : a.token < b.token; });
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const Entry& a, const Entry& b) { return a.token == b.token && a.bytes == b.bytes; }),
                entries.end());
  std::vector<uint32_t> open;  // the nodes on the way to the last entry
  std::string_view last;
  const auto close = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back()) nodes_[open.back()].behind = static_cast<uint32_t>(nodes_.size());
  };
  for (const Entry& entry : entries) {
    size_t shared = 0;
    while (shared < last.size() && shared < entry.bytes.size() && last[shared] == entry.bytes[shared]) ++shared;
    close(shared);
    for (size_t i = shared; i < entry.bytes.size(); ++i) {
      open.push_back(static_cast<uint32_t>(nodes_.size()));
      nodes_.push_back({0, static_cast<uint32_t>(tokens_.size()), static_cast<uint16_t>(i + 1),
                        static_cast<uint8_t>(entry.bytes[i]), false});
    }
    nodes_[open.back()].ends = true;
    tokens_.push_back(entry.token);
    deepest_ = std::max(deepest_, entry.bytes.size());
    last = entry.bytes;
  }
  close(0);
}

}  // namespace owml::text
