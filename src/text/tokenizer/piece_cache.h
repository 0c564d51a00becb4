// Remembers the tokens of short pieces: a table of fixed size in which a new piece takes the place of an old one.
// Used by the models, one for each thread that encodes.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>

#include "text/tokenizer/hash.h"
#include "text/tokenizer/model.h"

namespace owml::text {

class PieceCache {
 public:
  static constexpr size_t kLongestPiece = 29;
  static constexpr size_t kMostTokens = 6;

  // Where a piece is or will be.
  class Place {
    friend class PieceCache;
    uint32_t slot = 0;
  };

  // True when `piece` (not empty, at most kLongestPiece bytes) was found and its tokens were added. Else `place` is for
  // Store.
  bool Find(std::string_view piece, const TokenSink& sink, Place* place) {
    if (!entries_) Allocate();
    place->slot = static_cast<uint32_t>(HashBytes(piece) >> (64 - kBits));
    const Entry& entry = entries_[place->slot];
    if (entry.length != piece.size() || std::memcmp(entry.piece.data(), piece.data(), piece.size()) != 0) return false;
    if (!sink.lengths) {
      sink.ids->insert(sink.ids->end(), entry.ids.begin(), entry.ids.begin() + entry.count);
    } else {
      for (uint32_t i = 0; i < entry.count; ++i) sink.Add(entry.ids[i], entry.lengths[i]);
    }
    return true;
  }

  // Pieces of too many tokens are not kept.
  void Store(const Place& place, std::string_view piece, std::span<const uint32_t> ids,
             std::span<const uint32_t> lengths) {
    if (ids.size() > kMostTokens) return;
    Entry& entry = entries_[place.slot];
    entry.length = static_cast<uint8_t>(piece.size());
    entry.count = static_cast<uint8_t>(ids.size());
    std::memcpy(entry.piece.data(), piece.data(), piece.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      entry.ids[i] = ids[i];
      entry.lengths[i] = static_cast<uint8_t>(lengths[i]);
    }
  }

 private:
  static constexpr int kBits = 16;
  static constexpr size_t kEntries = size_t{1} << kBits;

  struct Entry {
    std::array<uint32_t, kMostTokens> ids;
    std::array<uint8_t, kMostTokens> lengths;
    uint8_t length;  // 0: free
    uint8_t count;
    std::array<char, kLongestPiece> piece;
  };

  static_assert(std::is_trivially_copyable_v<Entry>);

  // Zeroed pages of the system, which take memory when they are written to.
  void Allocate() {
    entries_.reset(static_cast<Entry*>(std::calloc(kEntries, sizeof(Entry))));
    if (!entries_) throw std::bad_alloc();
  }

  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  std::unique_ptr<Entry[], Free> entries_;
};

}  // namespace owml::text
