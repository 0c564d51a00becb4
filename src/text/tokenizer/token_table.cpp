// Open addressing over the hash of a token's text.
// Called through token_table.h.
#include "text/tokenizer/token_table.h"

#include <algorithm>
#include <bit>

#include "text/tokenizer/hash.h"

namespace owml::text {

void TokenTable::Reserve(size_t tokens, size_t bytes) {
  bytes_.reserve(bytes);
  entries_.reserve(tokens);
  while (slots_.size() < tokens * 2) Grow();
}

void TokenTable::Grow() {
  std::vector<uint32_t> old = std::move(slots_);
  slots_.assign(std::max<size_t>(256, old.size() * 2), kNoToken);
  const size_t mask = slots_.size() - 1;
  for (const uint32_t id : old) {
    if (id == kNoToken) continue;
    size_t slot = HashBytes(Text(id)) & mask;
    while (slots_[slot] != kNoToken) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

bool TokenTable::Add(std::string_view text, uint32_t id) {
  if (Has(id)) return false;
  if (count_ * 2 >= slots_.size()) Grow();
  const size_t mask = slots_.size() - 1;
  size_t slot = HashBytes(text) & mask;
  for (; slots_[slot] != kNoToken; slot = (slot + 1) & mask) {
    if (Text(slots_[slot]) == text) return false;
  }
  slots_[slot] = id;
  if (id >= entries_.size()) entries_.resize(size_t{id} + 1);
  entries_[id] = {bytes_.size(), static_cast<uint32_t>(text.size()), true};
  bytes_.append(text);
  ++count_;
  return true;
}

uint32_t TokenTable::Find(std::string_view text) const {
  if (slots_.empty()) return kNoToken;
  const size_t mask = slots_.size() - 1;
  for (size_t slot = HashBytes(text) & mask; slots_[slot] != kNoToken; slot = (slot + 1) & mask) {
    if (Text(slots_[slot]) == text) return slots_[slot];
  }
  return kNoToken;
}

}  // namespace owml::text
