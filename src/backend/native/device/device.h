// What the engine wants of a machine that computes: memory, copies, jobs of a graph, and waiting for them. The engine
// follows no address itself; what an address means is the device's own business. docs/backends.md lists what a new one
// has to do. Driven by program.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "backend/native/device/step.h"
#include "backend/native/graph/operation.h"
#include "backend/native/job_times.h"

namespace owml::native {

// Memory of a device, given back with its owner.
struct DeviceMemory {
  DeviceAddress address = 0;
  uint64_t bytes = 0;
  std::shared_ptr<const void> owner;
};

class Device {
 public:
  virtual ~Device() = default;

  // True where addresses are pointers of this process, so that results may be written where a caller wants them.
  virtual bool uses_host_memory() const = 0;

  // Threads of the processor that work for it.
  virtual uint32_t threads() const = 0;

  // Aligned to 64 bytes, not touched. Throws E_OUTOFMEMORY with a sentence about `purpose`.
  virtual DeviceMemory Allocate(uint64_t bytes, const std::string& purpose) = 0;

  // Memory that holds these bytes, which never change and live as long as `owner`; perhaps the same.
  virtual DeviceMemory Share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) = 0;
  // The same for the table of Embed operations, of which nobody else reads: it may stay with the host.
  virtual DeviceMemory ShareTable(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) = 0;

  // Behind what was run before; the bytes are there when it returns. Throws E_FAIL where the device failed.
  virtual void CopyIn(DeviceAddress to, std::span<const std::byte> from) = 0;
  virtual void CopyOut(std::span<std::byte> to, DeviceAddress from) = 0;

  // Before the first Run of a job: reserves what it needs beside its tensors. Throws ERROR_NOT_SUPPORTED for what the
  // device cannot do, E_OUTOFMEMORY.
  virtual void Prepare(const Job& job) = 0;

  // The jobs that follow are for this step, which stays as it is until the fence.
  virtual void Begin(const Step& step) noexcept = 0;
  // May return before the job is done; jobs are done in order. What fails is told by the fence. `times` takes the times
  // of threads, where it is not null and the device has threads.
  virtual void Run(const Job& job, JobTimes* times) noexcept = 0;
  // Waits for all jobs. Throws E_FAIL where the device failed at one of them, or before; nothing that the step wrote
  // means anything then.
  virtual void Fence() = 0;
};

}  // namespace owml::native
