// Places of buffers in one block of memory: those that no job needs at the same time may share a place.
// Made by program.cpp at Build.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/native/graph/graph.h"

namespace owml::native {

struct BufferPlan {
  static constexpr uint64_t kAlignment = 64;
  static constexpr uint64_t kNowhere = UINT64_MAX;  // a buffer that no job uses

  std::vector<uint64_t> offsets;  // of each buffer of the graph
  uint64_t bytes = 0;             // of the block
  uint64_t unshared_bytes = 0;    // what the placed buffers would take side by side
};

// Throws E_OUTOFMEMORY where sizes do not fit 64 bits.
BufferPlan PlanBuffers(const Graph& graph, std::vector<Job>& jobs);

}  // namespace owml::native
