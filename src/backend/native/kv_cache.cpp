// Size and place of the cache.
// Its memory is reserved for all positions; the system gives pages when positions are written. What layers keep of the
// same segment of positions lies together, so that a sequence fills the memory from the front and large pages pay.
#include "backend/native/kv_cache.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "kernels/kernels.h"

namespace owml::native {
namespace {

constexpr uint64_t RoundUp(uint64_t count, uint64_t unit) { return (count + unit - 1) / unit * unit; }

// Whole segments, so that none is torn where a ring begins again.
uint64_t PositionsOf(uint32_t window, const KvCacheShape& shape) {
  const uint64_t kept = window == 0 ? shape.capacity : std::min(shape.capacity, window - 1 + shape.ahead);
  return RoundUp(kept, kernels::kAttentionSegment);
}

}  // namespace

KvCache::KvCache(const KvCacheShape& shape, Device* device) : shape_(shape) {
  const uint64_t key = kernels::KeyBytes(shape.type, shape.head_width);
  const uint64_t value = kernels::ValueBytes(shape.type, shape.head_width);
  const std::string times = shape.slots == 1 ? "" : std::to_string(shape.slots) + " times ";
  const std::string purpose = times + std::to_string(shape.capacity) + " tokens";
  const uint64_t most = INT64_MAX / (key + value) / shape.slots;
  uint64_t slot_positions = 0;               // of all heads of all layers
  std::map<uint64_t, uint64_t> same_layers;  // that keep so many positions
  for (const uint32_t window : shape.windows) {
    const uint64_t positions = PositionsOf(window, shape);
    if (positions > (most - slot_positions) / shape.kv_heads) {
      throw Error(E_OUTOFMEMORY, "there is no memory for the keys and values of " + purpose);
    }
    layers_.push_back({.type = shape.type, .capacity = shape.capacity, .positions = positions, .window = window});
    slot_positions += positions * shape.kv_heads;
    ++same_layers[positions];
  }
  keys_ = device->Allocate(shape.slots * slot_positions * key, "the keys of " + purpose);
  values_ = device->Allocate(shape.slots * slot_positions * value, "the values of " + purpose);
  uint64_t before = 0;  // positions of all slots of earlier layers
  for (const auto& same : same_layers) {
    const uint64_t positions = same.first, count = same.second;
    const uint64_t segments = positions / kernels::kAttentionSegment;
    const auto together = [&](const DeviceMemory& memory, uint64_t bytes) {
      return Tensor(ElementType::kByte,
                    {shape.slots, segments, count * shape.kv_heads, kernels::kAttentionSegment * bytes},
                    memory.address + before * bytes);
    };
    const Tensor all_keys = together(keys_, key), all_values = together(values_, value);
    uint64_t first = 0;
    for (CacheLayer& layer : layers_) {
      if (layer.positions != positions) continue;
      layer.keys = all_keys.Slice(2, first, shape.kv_heads).Transpose(1, 2);
      layer.values = all_values.Slice(2, first, shape.kv_heads).Transpose(1, 2);
      first += shape.kv_heads;
    }
    before += shape.slots * positions * count * shape.kv_heads;
  }
}

bool KvCache::Remembers(uint64_t position, uint64_t written) const {
  if (position == 0) return true;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    const uint64_t window = shape_.windows[layer];
    const uint64_t first = window != 0 && position >= window ? position - window + 1 : 0;
    if (IsRing(layer) && first + layers_[layer].positions < written) return false;
  }
  return true;
}

std::optional<uint64_t> KvCache::depth() const {
  std::optional<uint64_t> depth;
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    if (!IsRing(layer)) continue;
    depth = std::min(depth.value_or(UINT64_MAX), layers_[layer].positions - shape_.windows[layer] + 1);
  }
  return depth;
}

}  // namespace owml::native
