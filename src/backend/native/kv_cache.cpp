// Size and place of the cache.
// Its memory is reserved for the whole capacity; the system gives pages when positions are written.
#include "backend/native/kv_cache.h"

#include <string>

#include "base/error.h"

namespace owml::native {

KvCache::KvCache(const KvCacheShape& shape) : shape_(shape) {
  const uint64_t positions = (shape.capacity + 15) / 16 * 16;
  const uint64_t heads = uint64_t{shape.layers} * shape.kv_heads * shape.slots;
  const uint64_t key = kernels::KeyBytes(shape.type, shape.head_width);
  const uint64_t value = kernels::ValueBytes(shape.type, shape.head_width);
  if (heads == 0 || key == 0 || positions > INT64_MAX / (key + value) / heads) {
    throw Error(E_OUTOFMEMORY, "there is no memory for " + std::to_string(shape.slots) + " times " +
                                   std::to_string(shape.capacity) + " tokens");
  }
  key_bytes_ = positions * key;
  value_bytes_ = positions * value;
  const std::string times = shape.slots == 1 ? "" : std::to_string(shape.slots) + " times ";
  const std::string purpose = "the keys and values of " + times + std::to_string(shape.capacity) + " tokens";
  arena_ = FilledArena(purpose, Arena::Pages::kUsual, [&](Arena& arena) {
    keys_ = arena.Take<std::byte>(heads * key_bytes_);
    values_ = arena.Take<std::byte>(heads * value_bytes_);
  });
}

}  // namespace owml::native
