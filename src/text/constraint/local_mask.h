// What tokens do from one place inside a rule, whatever surrounds the rule.
// Computed by TokenMasks; those of rules that call no other are kept for all constraints of a vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/constraint/token_set.h"
#include "text/constraint/vocabulary_trie.h"

namespace owml::text {

// Tokens up to ConstraintVocabulary::kShort bytes. States that look alike that far share it.
struct LocalPart {
  // Tokens that stay inside the rule or end with it: dense when they are many.
  std::vector<uint32_t> few;
  const TokenSet* plain = nullptr;       // of a slice of the vocabulary, which outlives this; null for none
  std::shared_ptr<const TokenSet> many;  // null: see `few`
  // Tokens that go on behind the end of the rule, by the part that is behind it.
  VocabularyTrie beyond;
};

struct LocalMask {
  std::shared_ptr<const LocalPart> common;
  LocalPart longer;  // the tokens of more bytes

  size_t bytes() const {
    size_t sum = sizeof(*this);
    for (const LocalPart* part : {common.get(), &longer}) {
      sum += part->few.size() * 4 + (part->many ? part->many->bytes() : 0) + part->beyond.bytes();
    }
    return sum;
  }
};

// Bounded; forgets everything when it is full, since what is in use is soon there again.
class LocalMaskCache {
 public:
  static constexpr size_t kMostBytes = 64u << 20;

  std::shared_ptr<const LocalMask> Find(const std::string& key) const;
  void Keep(const std::string& key, std::shared_ptr<const LocalMask> mask);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const LocalMask>> masks_;
  size_t bytes_ = 0;
};

}  // namespace owml::text
