// All packed weights lie in one piece of memory, so that one distance moves them all.
// See device_weights.h.
#include "backend/native/device_weights.h"

#include <utility>

namespace owml::native {

DeviceWeights::DeviceWeights(std::shared_ptr<const ModelWeights> host, Device* device)
    : host_(std::move(host)),
      packed_(device->Share(host_->memory(), host_)),
      embedding_(device->ShareTable(host_->embedding(), host_)) {}

DeviceAddress DeviceWeights::Moved(const void* pointer) const {
  return packed_.address + static_cast<uint64_t>(static_cast<const std::byte*>(pointer) - host_->memory().data());
}

Matrix DeviceWeights::Of(const PackedMatrix& matrix) const {
  return {matrix.type, matrix.rows, matrix.columns, Moved(matrix.panels)};
}

DeviceAddress DeviceWeights::Of(const float* vector) const { return Moved(vector); }

}  // namespace owml::native
