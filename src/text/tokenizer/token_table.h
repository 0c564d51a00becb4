// The tokens of a vocabulary: from text to id and back.
// Filled by the readers of tokenizer files; constant afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace owml::text {

inline constexpr uint32_t kNoToken = UINT32_MAX;

class TokenTable {
 public:
  TokenTable() = default;

  void Reserve(size_t tokens, size_t bytes);
  // False when `text` or `id` is there already; then nothing changes.
  bool Add(std::string_view text, uint32_t id);

  // kNoToken when there is none.
  uint32_t Find(std::string_view text) const;
  bool Has(uint32_t id) const { return id < entries_.size() && entries_[id].present; }
  // Of an id that is there.
  std::string_view Text(uint32_t id) const { return {bytes_.data() + entries_[id].start, entries_[id].length}; }

  // One more than the largest id.
  uint32_t limit() const { return static_cast<uint32_t>(entries_.size()); }
  size_t size() const { return count_; }

 private:
  struct Entry {
    uint64_t start = 0;
    uint32_t length = 0;
    bool present = false;
  };

  void Grow();

  std::string bytes_;
  std::vector<Entry> entries_;   // by id
  std::vector<uint32_t> slots_;  // open addressing, kNoToken where free
  size_t count_ = 0;
};

}  // namespace owml::text
