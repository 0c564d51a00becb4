// The tokens that are recognised in a text before the model sees it: special ones and others that were added to a
// vocabulary.
// Made by the readers of tokenizer files, called by the Tokenizer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer/aligned_text.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer/token_trie.h"

namespace owml::text {

struct AddedToken {
  uint32_t id = 0;
  std::string content;
  std::string pattern;  // what is looked for: `content`, normalized where `normalized` says so
  bool single_word = false;
  bool left_strip = false;
  bool right_strip = false;
  bool normalized = false;  // looked for behind the normalizer
  bool special = false;     // left out of decoded text on demand
};

// Which added tokens a text may become.
enum class AddedTokenUse : uint8_t {
  kAll,
  kNotSpecial,  // special ones stay text
  kNone,        // every one stays text
};

// Whether a token may be taken at a place of the text; for all when empty.
using AddedTokenFilter = std::function<bool(const AddedToken& token, Span place)>;

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens);

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  const AddedToken* Find(uint32_t id) const;
  const AddedToken* Find(std::string_view content) const;

  struct Match {
    const AddedToken* token = nullptr;
    Span span;  // with the white space that the token takes
  };
  // From left to right, the longest at each place, none over another. `normalized` picks the tokens that are looked for
  // behind the normalizer.
  std::vector<Match> FindAll(std::string_view text, bool normalized, AddedTokenUse use,
                             const AddedTokenFilter& accepts = {}) const;

 private:
  std::vector<AddedToken> tokens_;
  std::unordered_map<uint32_t, uint32_t> by_id_;
  std::unordered_map<std::string_view, uint32_t> by_content_;
  TokenTrie plain_;
  TokenTrie normalized_;
};

}  // namespace owml::text
