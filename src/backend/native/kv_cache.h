// Keys and values of the sequences of a forward pass, one in each slot, in the layout of the attention kernels. A layer
// that sees a window keeps only the last positions, in a ring.
// Owned by the pass; which positions are valid is the business of whoever counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/native/arena.h"
#include "kernels/cache_type.h"

namespace owml::native {

struct KvCacheShape {
  uint32_t slots = 1;
  uint32_t kv_heads = 0;
  uint32_t head_width = 0;
  uint64_t capacity = 0;  // positions of a slot
  kernels::CacheType type = kernels::CacheType::kF16;
  std::vector<uint32_t> windows = {};  // of each layer: positions that a token sees, itself included; 0 = all
  uint64_t ahead = 0;                  // positions that may be written behind one whose window must still be there
};

class KvCache {
 public:
  // Throws E_OUTOFMEMORY.
  explicit KvCache(const KvCacheShape& shape);

  kernels::CacheType type() const { return shape_.type; }

  // The memory of a head. Positions lie at their Place; segments of attention, which begin at multiples of
  // kAttentionSegment, lie in one piece.
  std::byte* keys(uint32_t slot, uint32_t layer, uint32_t head) const {
    return keys_ + First(slot, layer, head) * key_bytes_;
  }
  std::byte* values(uint32_t slot, uint32_t layer, uint32_t head) const {
    return values_ + First(slot, layer, head) * value_bytes_;
  }
  uint64_t Place(uint32_t layer, uint64_t position) const { return position % layers_[layer].positions; }

  // Whether a slot in which positions below `written` have been written can go on at `position`: what tokens from there
  // on see of the positions before it is still there.
  bool Remembers(uint64_t position, uint64_t written) const;
  // How far any slot can go back; nothing where all positions are kept.
  std::optional<uint64_t> depth() const;

  uint64_t bytes() const { return arena_.capacity(); }

 private:
  struct Layer {
    uint64_t positions = 0;  // of a head; the capacity, or fewer in a ring
    uint64_t before = 0;     // positions of the heads of earlier layers
  };
  bool IsRing(size_t layer) const { return layers_[layer].positions < shape_.capacity; }
  uint64_t First(uint32_t slot, uint32_t layer, uint32_t head) const {
    return slot * slot_positions_ + layers_[layer].before + head * layers_[layer].positions;
  }

  KvCacheShape shape_;
  std::vector<Layer> layers_;
  uint64_t slot_positions_ = 0;  // of all heads
  uint64_t key_bytes_ = 0;       // of one position
  uint64_t value_bytes_ = 0;
  std::byte* keys_ = nullptr;
  std::byte* values_ = nullptr;
  Arena arena_;
};

}  // namespace owml::native
