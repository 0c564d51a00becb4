// A GPU of NVIDIA as a device: weights, caches and work buffers in its memory, jobs as launches on one stream, with one
// wait at the end of a step. The table of embeddings stays with the host, which dequantizes the few rows that a step
// reads. Made by cuda_devices.cpp.
#pragma once

#include <string>

#include "backend/native/device/cuda/cuda_memory.h"
#include "backend/native/device/cuda/cuda_operations.h"
#include "backend/native/device/device.h"

namespace owml::native {

class CudaDevice final : public Device {
 public:
  // The device of a number, under a name for sentences. Throws E_FAIL where it cannot be used.
  CudaDevice(int ordinal, const std::string& name) : queue_(ordinal, name) {}

  bool uses_host_memory() const override { return false; }
  uint32_t threads() const override { return 1; }  // the one that starts the work
  DeviceMemory Allocate(uint64_t bytes, const std::string& purpose) override;
  DeviceMemory Share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) override;
  DeviceMemory ShareTable(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) override;
  void CopyIn(DeviceAddress to, std::span<const std::byte> from) override;
  void CopyOut(std::span<std::byte> to, DeviceAddress from) override;
  void Prepare(const Job& job) override;
  void Begin(const Step& step) noexcept override;
  void Run(const Job& job, JobTimes* times) noexcept override;
  void Fence() override;

 private:
  // Memory for what operations need beside their tensors, as large as any of them wants it.
  struct Scratch {
    DeviceMemory memory;
    void Reserve(const CudaQueue& queue, uint64_t floats, const char* purpose);
    float* data() const { return reinterpret_cast<float*>(static_cast<uintptr_t>(memory.address)); }
  };

  void ReserveStep(uint64_t rows);
  void RunEmbed(const Embed& op, RowSet set) noexcept;

  CudaQueue queue_;
  Scratch gates_, states_, logits_;
  const Step* step_ = nullptr;
  CudaStep on_device_;
  uint64_t step_rows_ = 0;  // room
  PinnedMemory step_host_;  // what a step tells, packed
  DeviceMemory step_memory_;
  PinnedMemory embeddings_;  // rows of a step on their way
  bool embeddings_in_use_ = false;
};

}  // namespace owml::native
