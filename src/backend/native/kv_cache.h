// Keys and values of the sequences of a forward pass, one in each slot, in the layout of the attention kernels.
// Owned by the pass; which positions are valid is the business of whoever counts them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/native/arena.h"
#include "kernels/cache_type.h"

namespace owml::native {

struct KvCacheShape {
  uint32_t slots = 1;
  uint32_t layers = 0;
  uint32_t kv_heads = 0;
  uint32_t head_width = 0;
  uint64_t capacity = 0;  // positions of a slot
  kernels::CacheType type = kernels::CacheType::kF16;
};

class KvCache {
 public:
  // Throws E_OUTOFMEMORY.
  explicit KvCache(const KvCacheShape& shape);

  kernels::CacheType type() const { return shape_.type; }

  // Of position 0.
  std::byte* keys(uint32_t slot, uint32_t layer, uint32_t head) const {
    return keys_ + Head(slot, layer, head) * key_bytes_;
  }
  std::byte* values(uint32_t slot, uint32_t layer, uint32_t head) const {
    return values_ + Head(slot, layer, head) * value_bytes_;
  }

  uint64_t bytes() const { return arena_.capacity(); }

 private:
  size_t Head(uint32_t slot, uint32_t layer, uint32_t head) const {
    return (size_t{slot} * shape_.layers + layer) * shape_.kv_heads + head;
  }

  KvCacheShape shape_;
  uint64_t key_bytes_ = 0;  // of one head
  uint64_t value_bytes_ = 0;
  std::byte* keys_ = nullptr;
  std::byte* values_ = nullptr;
  Arena arena_;
};

}  // namespace owml::native
