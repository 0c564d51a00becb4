// The cache of local masks.
// Called by TokenMasks.
#include "text/constraint/local_mask.h"

namespace owml::text {

std::shared_ptr<const LocalMask> LocalMaskCache::Find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = masks_.find(key);
  return found == masks_.end() ? nullptr : found->second;
}

void LocalMaskCache::Keep(const std::string& key, std::shared_ptr<const LocalMask> mask) {
  const size_t size = mask->bytes() + key.size();
  const std::lock_guard lock(mutex_);
  if (bytes_ + size > kMostBytes) {
    masks_.clear();
    bytes_ = 0;
  }
  if (masks_.try_emplace(key, std::move(mask)).second) bytes_ += size;
}

}  // namespace owml::text
