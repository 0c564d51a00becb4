// Keys and values of all positions of one sequence, as halves, in the layout of the attention kernels.
// Owned by a forward pass; which positions are valid is the session's business.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/native/arena.h"

namespace owml::native {

struct KvCacheShape {
  uint32_t layers = 0;
  uint32_t kv_heads = 0;
  uint32_t head_width = 0;
  uint64_t capacity = 0;  // positions
};

class KvCache {
 public:
  // Throws E_OUTOFMEMORY.
  explicit KvCache(const KvCacheShape& shape);

  // Of position 0.
  uint16_t* keys(uint32_t layer, uint32_t head) const {
    return keys_ + (size_t{layer} * shape_.kv_heads + head) * key_size_;
  }
  uint16_t* values(uint32_t layer, uint32_t head) const {
    return values_ + (size_t{layer} * shape_.kv_heads + head) * value_size_;
  }

  uint64_t bytes() const { return arena_.capacity(); }

 private:
  KvCacheShape shape_;
  uint64_t key_size_ = 0;  // halves of one head
  uint64_t value_size_ = 0;
  uint16_t* keys_ = nullptr;
  uint16_t* values_ = nullptr;
  Arena arena_;
};

}  // namespace owml::native
