// Waiting, and the sentence of a failure.
// An error of the device itself comes back at every later call, so that nothing of a broken device is taken for a
// result.
#include "backend/native/device/cuda/cuda_queue.h"

#include "base/error.h"

namespace owml::native {

CudaQueue::CudaQueue(int ordinal, std::string name) : ordinal_(ordinal), name_(std::move(name)) {
  Use();
  if (error_ == cudaSuccess) Note(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  if (error_ != cudaSuccess) throw Error(E_FAIL, name_ + " cannot be used: " + cudaGetErrorString(error_));
}

CudaQueue::~CudaQueue() {
  if (cudaSetDevice(ordinal_) == cudaSuccess) cudaStreamDestroy(stream_);
}

void CudaQueue::Wait() {
  Use();
  Note(cudaStreamSynchronize(stream_));
  Note(cudaGetLastError());
  const cudaError_t error = std::exchange(error_, cudaSuccess);
  if (error != cudaSuccess) throw Error(E_FAIL, name_ + " failed: " + cudaGetErrorString(error));
}

}  // namespace owml::native
