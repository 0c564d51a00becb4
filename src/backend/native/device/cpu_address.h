// Addresses of the CPU device are pointers of the process.
// Only for the files of that device.
#pragma once

#include <cstdint>

#include "backend/native/graph/tensor.h"
#include "kernels/kernels.h"

namespace owml::native {

template <class T>
T* Pointer(DeviceAddress address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

inline DeviceAddress AddressOf(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

inline float* Floats(const Tensor& tensor, uint64_t row) { return Pointer<float>(tensor.at(row)); }
inline kernels::Q8Block* Blocks(const Tensor& tensor, uint64_t row) {
  return Pointer<kernels::Q8Block>(tensor.at(row));
}

}  // namespace owml::native
