// Finding added tokens in a text, with their rules about words and white space.
// Called by the Tokenizer.
#include "text/tokenizer/added_tokens.h"

#include <algorithm>
#include <array>
#include <optional>

#include "text/unicode/classes.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

bool EndsWithWord(std::string_view text) {
  return !text.empty() && IsPlainWord(DecodeCharacter(text, PreviousCharacter(text, text.size())).code);
}

bool StartsWithWord(std::string_view text) { return !text.empty() && IsPlainWord(DecodeCharacter(text, 0).code); }

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::vector<std::pair<std::string_view, uint32_t>> plain;
  std::vector<std::pair<std::string_view, uint32_t>> normalized;
  for (uint32_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    by_id_[token.id] = i;
    by_content_[token.content] = i;
    (token.normalized ? normalized : plain).emplace_back(token.pattern, i);
  }
  plain_ = TokenTrie(std::move(plain));
  normalized_ = TokenTrie(std::move(normalized));
}

const AddedToken* AddedTokens::Find(uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::Find(std::string_view content) const {
  const auto found = by_content_.find(content);
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

std::vector<AddedTokens::Match> AddedTokens::FindAll(std::string_view text, bool normalized, AddedTokenUse use,
                                                     const AddedTokenFilter& accepts) const {
  std::vector<Match> matches;
  const TokenTrie& trie = normalized ? normalized_ : plain_;
  if (trie.empty() || use == AddedTokenUse::kNone) return matches;
  std::array<bool, 256> begins;
  for (uint32_t byte = 0; byte < 256; ++byte) begins[byte] = trie.Begins(static_cast<uint8_t>(byte));

  size_t done = 0;  // end of the last match, with what it took
  for (size_t at = 0; at < text.size();) {
    if (!begins[static_cast<uint8_t>(text[at])]) {
      ++at;
      continue;
    }
    TokenTrie::Cursor cursor;
    uint32_t best = TokenTrie::kNoValue;
    size_t best_end = at;
    for (size_t end = at; end < text.size() && trie.Step(&cursor, static_cast<uint8_t>(text[end]));) {
      ++end;
      const uint32_t value = trie.Value(cursor);
      if (value != TokenTrie::kNoValue &&
          (!accepts || accepts(tokens_[value], {static_cast<uint32_t>(at), static_cast<uint32_t>(end)}))) {
        best = value;
        best_end = end;
      }
    }
    if (best == TokenTrie::kNoValue) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[best];
    size_t begin = at;
    size_t end = best_end;
    at = best_end;  // a match that is refused below is passed over all the same
    if (token.special && use == AddedTokenUse::kNotSpecial) continue;
    if (token.single_word && (EndsWithWord(text.substr(0, begin)) || StartsWithWord(text.substr(end)))) continue;
    if (token.left_strip) {
      while (begin > done) {
        const size_t previous = PreviousCharacter(text, begin);
        if (previous < done || !IsWhiteSpace(DecodeCharacter(text, previous).code)) break;
        begin = previous;
      }
    }
    if (token.right_strip) {
      while (end < text.size()) {
        const Character next = DecodeCharacter(text, end);
        if (!IsWhiteSpace(next.code)) break;
        end += next.length;
      }
    }
    // A token that begins in the white space that the one before took keeps its own place, as in Hugging Face's
    // tokenizers; its span is cut so that spans do not overlap.
    begin = std::max(begin, done);
    end = std::max(end, begin);
    matches.push_back({&token, {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}});
    done = end;
  }
  return matches;
}

}  // namespace owml::text
