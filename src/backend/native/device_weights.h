// The weights of a model in the memory of a device, under the names that they have on the host.
// Made by forward.cpp, one for each session; on the CPU the memory is the host's.
#pragma once

#include <memory>

#include "backend/native/device/device.h"
#include "backend/native/graph/operation.h"
#include "backend/native/model_weights.h"

namespace owml::native {

class DeviceWeights {
 public:
  // Throws E_OUTOFMEMORY.
  DeviceWeights(std::shared_ptr<const ModelWeights> host, Device* device);

  const ModelWeights& host() const { return *host_; }

  Matrix Of(const PackedMatrix& matrix) const;
  DeviceAddress Of(const float* vector) const;
  // As it lies in the file.
  DeviceAddress embedding() const { return embedding_.address; }
  kernels::WeightType embedding_type() const { return host_->embedding_type(); }

 private:
  DeviceAddress Moved(const void* pointer) const;

  std::shared_ptr<const ModelWeights> host_;
  DeviceMemory packed_;
  DeviceMemory embedding_;
};

}  // namespace owml::native
