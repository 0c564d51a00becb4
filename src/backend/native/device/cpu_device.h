// The processor as a device: memory of the process, a pool of threads, the kernels of one instruction set.
// Made by forward.cpp. Work is divided so that no sum depends on the division: by rows of a matrix or of a step, heads,
// and absolute segments of positions.
#pragma once

#include <optional>
#include <vector>

#include "backend/native/device/cpu_attention.h"
#include "backend/native/device/cpu_head.h"
#include "backend/native/device/cpu_products.h"
#include "backend/native/device/device.h"
#include "backend/native/device/workers.h"
#include "kernels/kernels.h"

namespace owml::native {

class CpuDevice final : public Device {
 public:
  CpuDevice(uint32_t threads, const kernels::Kernels& kernels, const std::vector<ThreadPlace>& places = {});

  uint32_t threads() const override { return workers_.size(); }
  bool uses_host_memory() const override { return true; }
  DeviceMemory Allocate(uint64_t bytes, const std::string& purpose) override;
  DeviceMemory Share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) override;
  DeviceMemory ShareTable(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) override;
  void CopyIn(DeviceAddress to, std::span<const std::byte> from) override;
  void CopyOut(std::span<std::byte> to, DeviceAddress from) override;
  void Prepare(const Job& job) override;
  void Begin(const Step& step) noexcept override;
  void Run(const Job& job, JobTimes* times) noexcept override;
  void Fence() noexcept override { caller_.reset(); }

 private:
  const kernels::Kernels& kernels_;
  Workers workers_;
  CpuProducts products_;
  CpuAttention attention_;
  CpuHead head_;
  const Step* step_ = nullptr;
  std::optional<BoundScope> caller_;  // while jobs run
};

}  // namespace owml::native
