// The GPU that is not there: what tests may ask of it and do to it.
// See cuda_runtime.h.
#pragma once

#include <cstdint>

namespace cuda_emulation {

// Blocks and the threads between two waits run in ascending order, or in descending order: a kernel gives the same
// either way, or it lacks a wait.
void SetDescending(bool descending);

// Devices that the runtime finds; two at first.
inline constexpr int kDevices = 2;

// Launches and bytes of memory so far, and memory that is taken.
struct Counts {
  uint64_t launches = 0;
  uint64_t allocations = 0;
  uint64_t bytes_in_use = 0;
  uint64_t bytes_in = 0;  // copied to the device
  uint64_t waits = 0;
};
Counts CountsSoFar();

// From the launch of this number on, counted from now, everything fails as on a device that broke; 0 mends it.
void BreakAtLaunch(uint64_t number);

// Memory of the device; allocations beyond it fail.
void SetMemory(uint64_t bytes);

}  // namespace cuda_emulation
