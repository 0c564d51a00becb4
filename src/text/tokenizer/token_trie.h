// A set of byte strings with a number each, walked byte by byte: which of them begin at a place of a text?
// Used for added tokens, Unigram and WordPiece vocabularies.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace owml::text {

class TokenTrie {
 public:
  TokenTrie() = default;
  // Empty strings are left out; of equal ones the last counts.
  explicit TokenTrie(std::vector<std::pair<std::string_view, uint32_t>> entries);

  bool empty() const { return units_.empty(); }

  // A place in the trie; starts at the root.
  struct Cursor {
    uint32_t unit = 0;
  };
  // False where no entry goes on with `byte`; then the cursor is of no more use.
  bool Step(Cursor* cursor, uint8_t byte) const {
    const uint32_t target = units_[cursor->unit].base ^ byte;
    if (target >= units_.size() || units_[target].parent != cursor->unit || units_[target].label != byte) return false;
    cursor->unit = target;
    return true;
  }
  // The number of the entry that ends here, or kNoValue.
  static constexpr uint32_t kNoValue = UINT32_MAX;
  uint32_t Value(Cursor cursor) const { return units_[cursor.unit].value; }

  // Whether an entry begins with the byte.
  bool Begins(uint8_t byte) const {
    Cursor root;
    return !units_.empty() && Step(&root, byte);
  }

 private:
  struct Unit {
    uint32_t base = 0;
    uint32_t parent = UINT32_MAX;  // free when nobody's child
    uint32_t value = kNoValue;
    uint8_t label = 0;
  };

  std::vector<Unit> units_;
};

}  // namespace owml::text
