// Keys and values of the sequences of a forward pass, one in each slot, in the layout of the attention kernels and in
// the memory of a device. A layer that sees a window keeps only the last positions, in a ring.
// Owned by the pass; which positions are valid is the business of whoever counts them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/native/device/device.h"

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
  KvCache(const KvCacheShape& shape, Device* device);

  const std::vector<CacheLayer>& layers() const { return layers_; }

  // Whether a slot in which positions below `written` have been written can go on at `position`: what tokens from there
  // on see of the positions before it is still there.
  bool Remembers(uint64_t position, uint64_t written) const;
  // How far any slot can go back; nothing where all positions are kept.
  std::optional<uint64_t> depth() const;

  uint64_t bytes() const { return keys_.bytes + values_.bytes; }

 private:
  bool IsRing(size_t layer) const { return layers_[layer].positions < shape_.capacity; }

  KvCacheShape shape_;
  DeviceMemory keys_, values_;
  std::vector<CacheLayer> layers_;
};

}  // namespace owml::native
