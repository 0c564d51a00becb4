// From jobs to the parts that do them.
// Everything beside the tensors is reserved when a job is prepared.
#include "backend/native/device/cpu_device.h"

#include <algorithm>
#include <utility>

#include "backend/native/arena.h"
#include "backend/native/device/cpu_address.h"
#include "backend/native/device/cpu_rows.h"
#include "backend/native/machine.h"
#include "backend/native/memory_placement.h"

namespace owml::native {

CpuDevice::CpuDevice(uint32_t threads, const kernels::Kernels& kernels, const std::vector<ThreadPlace>& places)
    : kernels_(kernels),
      workers_(threads, places),
      products_(kernels, workers_),
      attention_(kernels, workers_),
      head_(kernels, workers_) {}

DeviceMemory CpuDevice::Allocate(uint64_t bytes, const std::string& purpose) {
  const auto arena = std::make_shared<const Arena>(bytes, purpose, Arena::Pages::kHuge);
  return {AddressOf(arena->data()), bytes, arena};
}

DeviceMemory CpuDevice::Share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return {AddressOf(bytes.data()), bytes.size(), std::move(owner)};
}

DeviceMemory CpuDevice::ShareTable(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  return Share(bytes, std::move(owner));
}

void CpuDevice::CopyIn(DeviceAddress to, std::span<const std::byte> from) {
  std::ranges::copy(from, Pointer<std::byte>(to));
}

void CpuDevice::CopyOut(std::span<std::byte> to, DeviceAddress from) {
  std::copy_n(Pointer<const std::byte>(from), to.size(), to.data());
}

void CpuDevice::Prepare(const Job& job) {
  if (const auto* gate_up = std::get_if<GateUp>(&job.operations[0])) products_.Reserve(*gate_up);
  if (const auto* attend = std::get_if<Attend>(&job.operations[0])) {
    attention_.Reserve(*attend);
    if (const Machine* machine = MachineWithNodes()) {
      PlaceHeads(attend->cache, machine->nodes).Apply(*machine->topology, kUsualPage);
    }
  }
  if (const auto* head = std::get_if<Head>(&job.operations[0])) head_.Reserve(*head);
}

void CpuDevice::Begin(const Step& step) noexcept {
  step_ = &step;
  workers_.FollowLimits();
  attention_.Begin(step);
}

void CpuDevice::Run(const Job& job, JobTimes* times) noexcept {
  if (!caller_) caller_.emplace(workers_.caller_place());
  workers_.Watch(times);
  const std::span<const Row> rows = step_->rows(job.rows);
  const Operation& first = job.operations[0];
  if (rows.empty()) return;
  if (RowWise(first)) {
    RunRows(job, *step_, kernels_, workers_);
  } else if (const auto* gate_up = std::get_if<GateUp>(&first)) {
    products_.Run(*gate_up, rows.size());
  } else if (const auto* attend = std::get_if<Attend>(&first)) {
    attention_.Run(*attend, job.rows);
  } else if (const auto* head = std::get_if<Head>(&first)) {
    head_.Run(*head, *step_);
  } else {
    products_.Run(job, rows.size());
  }
}

}  // namespace owml::native
