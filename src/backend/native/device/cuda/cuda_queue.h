// The stream of a CUDA device, on which everything is done in order, and the first error on it: what starts work cannot
// throw, so that the error is remembered and raised where somebody waits. Used by all files of the device.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

namespace owml::native {

class CudaQueue {
 public:
  // `name` is that of the device, for sentences. Throws E_FAIL.
  CudaQueue(int ordinal, std::string name);
  ~CudaQueue();
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  cudaStream_t stream() const { return stream_; }

  // Calls of this thread go to the device from here on.
  void Use() noexcept { Note(cudaSetDevice(ordinal_)); }
  void Note(cudaError_t error) noexcept {
    if (error_ == cudaSuccess) error_ = error;
  }
  // Waits for all that was started. Throws E_FAIL with the first error since the last call.
  void Wait();

 private:
  int ordinal_;
  std::string name_;
  cudaStream_t stream_ = nullptr;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace owml::native
