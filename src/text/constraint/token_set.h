// A set of token ids, one bit each.
// Filled by TokenMasks; read by filters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace owml::text {

class TokenSet {
 public:
  TokenSet() = default;
  explicit TokenSet(uint32_t limit) : limit_(limit), words_((size_t{limit} + 63) / 64) {}

  uint32_t limit() const { return limit_; }
  bool Has(uint32_t id) const { return id < limit_ && ((words_[id >> 6] >> (id & 63)) & 1); }
  void Add(uint32_t id) { words_[id >> 6] |= uint64_t{1} << (id & 63); }
  void Remove(uint32_t id) { words_[id >> 6] &= ~(uint64_t{1} << (id & 63)); }
  // Of the same vocabulary.
  void Add(const TokenSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void Clear() { words_.assign(words_.size(), 0); }
  bool empty() const {
    for (uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  size_t Count() const {
    size_t count = 0;
    for (uint64_t word : words_) count += static_cast<size_t>(__builtin_popcountll(word));
    return count;
  }
  const std::vector<uint64_t>& words() const { return words_; }
  size_t bytes() const { return words_.size() * sizeof(uint64_t); }

 private:
  uint32_t limit_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace owml::text
