// Size and place of the cache.
// Its memory is reserved for the whole capacity; the system gives pages when positions are written.
#include "backend/native/kv_cache.h"

#include <string>

#include "base/error.h"
#include "kernels/kernels.h"

namespace owml::native {

KvCache::KvCache(const KvCacheShape& shape) : shape_(shape) {
  const uint64_t positions = (shape.capacity + 15) / 16 * 16;
  const uint64_t heads = uint64_t{shape.layers} * shape.kv_heads;
  const uint64_t padded = kernels::PaddedWidth(shape.head_width);
  if (heads == 0 || padded == 0 || positions > INT64_MAX / padded / heads) {
    throw Error(E_OUTOFMEMORY, "there is no memory for a sequence of " + std::to_string(shape.capacity) + " tokens");
  }
  key_size_ = positions * shape.head_width;
  value_size_ = positions * padded;
  arena_ = FilledArena("the keys and values of " + std::to_string(shape.capacity) + " tokens", [&](Arena& arena) {
    keys_ = arena.Take<uint16_t>(heads * key_size_);
    values_ = arena.Take<uint16_t>(heads * value_size_);
  });
}

}  // namespace owml::native
