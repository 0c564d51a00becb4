// The tokens of a vocabulary: from text to id and back.
// Filled by the readers of tokenizer files; constant afterwards.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace owml::text {

inline constexpr uint32_t kNoToken = UINT32_MAX;

class TokenTable {
 public:
  TokenTable() = default;

  void Reserve(size_t tokens, size_t bytes);
  // False when `text` or `id` is there already; then nothing changes. Throws ERROR_NOT_SUPPORTED beyond 4 GiB of text.
  bool Add(std::string_view text, uint32_t id);

  // kNoToken when there is none.
  uint32_t Find(std::string_view text) const;
  bool Has(uint32_t id) const { return id < entries_.size() && entries_[id].length != kAbsent; }
  // Of an id that is there.
  std::string_view Text(uint32_t id) const { return {bytes_.data() + entries_[id].start, entries_[id].length}; }

  // One more than the largest id.
  uint32_t limit() const { return static_cast<uint32_t>(entries_.size()); }
  size_t size() const { return count_; }

 private:
  static constexpr uint32_t kAbsent = UINT32_MAX;

  struct Entry {
    uint32_t start = 0;
    uint32_t length = kAbsent;
  };
  // Everything a search compares but the text itself: tables of large vocabularies are far from the processor.
  struct Slot {
    uint32_t start = 0;
    uint32_t length = 0;
    uint32_t tag = 0;  // a part of the hash
    uint32_t id = kNoToken;
  };

  bool Is(const Slot& slot, std::string_view text, uint32_t tag) const {
    return slot.tag == tag && slot.length == text.size() &&
           std::memcmp(bytes_.data() + slot.start, text.data(), text.size()) == 0;
  }
  void Resize(size_t slots);

  std::string bytes_;
  std::vector<Entry> entries_;  // by id
  std::vector<Slot> slots_;     // open addressing; free ones have no id
  size_t count_ = 0;
};

}  // namespace owml::text
