// Open addressing over the hash of a token's text.
// Called through token_table.h.
#include "text/tokenizer/token_table.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "text/tokenizer/hash.h"

namespace owml::text {
namespace {

constexpr size_t kFewestSlots = 256;

// At most three quarters of the slots are taken.
size_t SlotsFor(size_t tokens) { return std::max(kFewestSlots, std::bit_ceil(tokens + tokens / 3 + 1)); }

uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

}  // namespace

void TokenTable::Reserve(size_t tokens, size_t bytes) {
  bytes_.reserve(bytes);
  entries_.reserve(tokens);
  if (SlotsFor(tokens) > slots_.size()) Resize(SlotsFor(tokens));
}

void TokenTable::Resize(size_t slots) {
  const std::vector<Slot> old = std::move(slots_);
  slots_.assign(slots, {});
  const size_t mask = slots - 1;
  for (const Slot& moved : old) {
    if (moved.id == kNoToken) continue;
    size_t slot = HashBytes(Text(moved.id)) & mask;
    while (slots_[slot].id != kNoToken) slot = (slot + 1) & mask;
    slots_[slot] = moved;
  }
}

bool TokenTable::Add(std::string_view text, uint32_t id) {
  if (Has(id)) return false;
  if (SlotsFor(count_ + 1) > slots_.size()) Resize(SlotsFor(count_ + 1));
  const uint64_t hash = HashBytes(text);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot].id != kNoToken; slot = (slot + 1) & mask) {
    if (Is(slots_[slot], text, TagOf(hash))) return false;
  }
  if (text.size() >= kAbsent - bytes_.size()) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "a vocabulary of more than 4 GiB of text is not supported");
  }
  const auto start = static_cast<uint32_t>(bytes_.size());
  const auto length = static_cast<uint32_t>(text.size());
  slots_[slot] = {start, length, TagOf(hash), id};
  if (id >= entries_.size()) entries_.resize(size_t{id} + 1);
  entries_[id] = {start, length};
  bytes_.append(text);
  ++count_;
  return true;
}

uint32_t TokenTable::Find(std::string_view text) const {
  if (slots_.empty()) return kNoToken;
  const uint64_t hash = HashBytes(text);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask; slots_[slot].id != kNoToken; slot = (slot + 1) & mask) {
    if (Is(slots_[slot], text, TagOf(hash))) return slots_[slot].id;
  }
  return kNoToken;
}

}  // namespace owml::text
