// The tokens of a vocabulary (or the rest of some of them) as a tree of bytes, laid out in the order of a walk.
// Walked by TokenMasks to find the tokens that a grammar allows.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace owml::text {

class VocabularyTrie {
 public:
  struct Node {
    uint32_t behind;       // the next node that is not below this one
    uint32_t first_token;  // of those that end here or below
    uint16_t depth;        // from 1
    uint8_t byte;
    bool ends;  // a token ends here
  };
  struct Entry {
    std::string_view bytes;  // not empty
    uint32_t token;
  };
  static constexpr size_t kLongestToken = 4096;

  VocabularyTrie() = default;
  explicit VocabularyTrie(std::vector<Entry> entries);

  bool empty() const { return tokens_.empty(); }
  const std::vector<Node>& nodes() const { return nodes_; }
  // Tokens that end exactly at a node come before those below it.
  const std::vector<uint32_t>& tokens() const { return tokens_; }
  uint32_t tokens_end(uint32_t node) const {
    return node < nodes_.size() ? nodes_[node].first_token : static_cast<uint32_t>(tokens_.size());
  }
  size_t deepest() const { return deepest_; }
  size_t bytes() const { return nodes_.size() * sizeof(Node) + tokens_.size() * sizeof(uint32_t); }

 private:
  std::vector<Node> nodes_;
  std::vector<uint32_t> tokens_;
  size_t deepest_ = 0;
};

}  // namespace owml::text
