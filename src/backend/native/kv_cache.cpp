// Size and place of the cache.
// Its memory is reserved for all positions; the system gives pages when positions are written.
#include "backend/native/kv_cache.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "kernels/kernels.h"

namespace owml::native {
namespace {

constexpr uint64_t RoundUp(uint64_t count, uint64_t unit) { return (count + unit - 1) / unit * unit; }

// Keys lie in groups of 16. A ring is made of whole segments, so that none is torn where it begins again.
uint64_t PositionsOf(uint32_t window, const KvCacheShape& shape) {
  const uint64_t all = RoundUp(shape.capacity, 16);
  if (window == 0) return all;
  return std::min(all, RoundUp(window - 1 + shape.ahead, kernels::kAttentionSegment));
}

}  // namespace

KvCache::KvCache(const KvCacheShape& shape, Device* device) : shape_(shape) {
  const uint64_t key = kernels::KeyBytes(shape.type, shape.head_width);
  const uint64_t value = kernels::ValueBytes(shape.type, shape.head_width);
  const std::string times = shape.slots == 1 ? "" : std::to_string(shape.slots) + " times ";
  const std::string purpose = times + std::to_string(shape.capacity) + " tokens";
  const uint64_t most = INT64_MAX / (key + value) / shape.slots;
  uint64_t slot_positions = 0;  // of all heads of all layers
  for (const uint32_t window : shape.windows) {
    const uint64_t positions = PositionsOf(window, shape);
    if (positions > (most - slot_positions) / shape.kv_heads) {
      throw Error(E_OUTOFMEMORY, "there is no memory for the keys and values of " + purpose);
    }
    layers_.push_back({.type = shape.type, .capacity = shape.capacity, .positions = positions, .window = window});
    slot_positions += positions * shape.kv_heads;
  }
  keys_ = device->Allocate(shape.slots * slot_positions * key, MemoryUse::kCache, "the keys of " + purpose);
  values_ = device->Allocate(shape.slots * slot_positions * value, MemoryUse::kCache, "the values of " + purpose);
  const Tensor all_keys(ElementType::kByte, {shape.slots, slot_positions * key}, keys_.address);
  const Tensor all_values(ElementType::kByte, {shape.slots, slot_positions * value}, values_.address);
  uint64_t before = 0;  // positions of the heads of earlier layers
  for (CacheLayer& layer : layers_) {
    const uint64_t positions = layer.positions * shape.kv_heads;
    layer.keys = all_keys.Slice(1, before * key, positions * key).Split(1, layer.positions * key);
    layer.values = all_values.Slice(1, before * value, positions * value).Split(1, layer.positions * value);
    before += positions;
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
