// A tokenizer's vocabulary as constraints need it: the bytes of every token that may stand for text, in trees.
// Made once for a tokenizer and shared by its constraints; usable from several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "text/constraint/local_mask.h"
#include "text/constraint/token_set.h"
#include "text/constraint/vocabulary_trie.h"
#include "text/tokenizer/tokenizer.h"

namespace owml::text {

class ConstraintVocabulary {
 public:
  // The tokens without those that are plain JSON text of up to `characters` characters, and those tokens.
  struct Slice {
    uint32_t characters;
    TokenSet plain;
    VocabularyTrie others;
  };

  explicit ConstraintVocabulary(std::shared_ptr<const Tokenizer> tokenizer);

  const Tokenizer& tokenizer() const { return *tokenizer_; }
  uint32_t limit() const { return tokenizer_->limit(); }
  bool IsEos(uint32_t id) const { return eos_.Has(id); }
  const TokenSet& eos() const { return eos_; }
  // Every id that is a token.
  const TokenSet& all() const { return all_; }
  // Empty for tokens that do not stand for text: special ones and those without bytes.
  std::string_view TextBytes(uint32_t id) const { return texts_[id]; }

  static constexpr size_t kShort = 32;  // bytes

  // Text tokens of up to kShort bytes, also in the slices, and the others.
  const VocabularyTrie& trie() const { return trie_; }
  const VocabularyTrie& long_trie() const { return long_trie_; }
  // By length, the longest first.
  const std::vector<Slice>& slices() const { return slices_; }

  LocalMaskCache& local_masks() const { return local_masks_; }

  // SHA-256 over the tokens in the order of their ids, each as: id (32 bits, little-endian), 1 for a special token else
  // 0, number of bytes (32 bits), bytes; then the number of end tokens (32 bits) and their ids. Computed at the first
  // call.
  const Sha256::Digest& Identity() const;

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::string storage_;
  std::vector<std::string_view> texts_;
  TokenSet eos_;
  TokenSet all_;
  VocabularyTrie trie_;
  VocabularyTrie long_trie_;
  std::vector<Slice> slices_;
  mutable LocalMaskCache local_masks_;
  mutable std::once_flag identity_once_;
  mutable Sha256::Digest identity_{};
};

}  // namespace owml::text
