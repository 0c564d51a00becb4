// A graph that is ready to run: its jobs in order, its buffers in the memory of a device.
// Made and run by forward.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/cancellation.h"
#include "backend/native/device/device.h"
#include "backend/native/graph/graph.h"
#include "backend/native/profile.h"

namespace owml::native {

class Program {
 public:
  // Schedules the graph and plans its buffers. Throws E_OUTOFMEMORY.
  explicit Program(const Graph& graph);

  // Of the block that Place wants, and what its buffers would take side by side.
  uint64_t bytes() const { return bytes_; }
  uint64_t unshared_bytes() const { return unshared_bytes_; }

  // Buffers into `memory` of bytes(), which programs that never run together may share; all that jobs need is reserved.
  // Once. Throws what Device::Prepare throws.
  void Place(DeviceAddress memory, Device* device, Profile* profile);

  // False when `check`, which is looked at before each layer and may be null, ended it. Takes no memory. Throws what
  // Device::Fence throws.
  bool Run(const Step& step, CancellationCheck* check);

  const std::vector<Job>& jobs() const { return jobs_; }

 private:
  std::vector<Job> jobs_;
  std::vector<uint64_t> offsets_;   // of buffers
  std::vector<uint32_t> profiled_;  // of jobs: operations of the profile
  uint64_t bytes_ = 0;
  uint64_t unshared_bytes_ = 0;
  Device* device_ = nullptr;
  Profile* profile_ = nullptr;
};

}  // namespace owml::native
