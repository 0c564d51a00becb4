// Starting kernels, and rows of tensors as kernels see them.
// Included by the .cu files of the device only.
//
// Kernels are plain CUDA C++: what they use of it, tests/support/cuda gives to an ordinary compiler too. All arithmetic
// is IEEE, every fused multiply-add is written as one and the compiler makes no others, so that both give the same
// bits.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "backend/native/device/cuda/cuda_operations.h"

namespace owml::native {

inline constexpr uint32_t kWarp = 32;
inline constexpr uint32_t kAllLanes = 0xFFFFFFFF;

template <class T>
__host__ __device__ T* OnDevice(DeviceAddress address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

// [rows, heads, width] of floats; one head where there are only rows.
struct FloatRows {
  float* data = nullptr;
  uint64_t row_stride = 0, head_stride = 0;  // floats

  __device__ float* at(uint64_t row, uint64_t head = 0) const { return data + row * row_stride + head * head_stride; }
};

inline FloatRows RowsOf(const Tensor& tensor) {
  const uint64_t head_stride = tensor.rank() == 3 ? tensor.stride(1) / sizeof(float) : 0;
  return {OnDevice<float>(tensor.address()), tensor.stride(0) / sizeof(float), head_stride};
}

__host__ __device__ constexpr uint32_t PiecesOf(uint64_t count, uint64_t piece) {
  return static_cast<uint32_t>((count + piece - 1) / piece);
}

template <class... Parameters>
void Launch(CudaQueue& queue, dim3 grid, uint32_t threads, void (*kernel)(Parameters...),
            std::type_identity_t<Parameters>... arguments) noexcept {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.stream = queue.stream();
  queue.Note(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace owml::native
