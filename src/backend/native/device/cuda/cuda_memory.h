// Memory of a CUDA device, and memory of the host that it reads and writes itself.
// Used by cuda_device.cpp; nothing here is called while a step runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/native/device/cuda/cuda_queue.h"
#include "backend/native/device/device.h"

namespace owml::native {

// Throws E_OUTOFMEMORY with a sentence about `purpose`.
DeviceMemory AllocateOnCuda(const CudaQueue& queue, uint64_t bytes, const std::string& purpose);

// Throws as CudaQueue::Wait.
void CopyToCuda(CudaQueue& queue, DeviceAddress to, std::span<const std::byte> from);
void CopyFromCuda(CudaQueue& queue, std::span<std::byte> to, DeviceAddress from);

// The one copy of these bytes on the queue's device: made by the first who asks, kept as long as somebody has it.
DeviceMemory SharedOnCuda(CudaQueue& queue, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

// Memory of the host from which copies need not be waited for.
class PinnedMemory {
 public:
  // Room for so many bytes, with nothing of what was there before. Throws E_OUTOFMEMORY.
  void Reserve(const CudaQueue& queue, uint64_t bytes, const std::string& purpose);
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }
  uint64_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> memory_;
  uint64_t bytes_ = 0;
};

}  // namespace owml::native
