// This machine's processors and memory nodes, found out once in a process and only when somebody needs them.
// Asked at Build, for the places of threads, weights and caches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/native/thread_placement.h"
#include "backend/native/topology.h"

namespace owml::native {

struct Machine {
  std::unique_ptr<Topology> topology;
  std::vector<Processor> usable;  // those that the process might use when it was first asked
  NodeShares nodes;               // of the usable ones
};

// Null where the usable processors share one node, and where the nodes cannot be found out, which the log says once.
const Machine* MachineWithNodes();

// The places of a pool's threads: one processor each where they are pinned, the node's where there are several nodes,
// nothing where threads may run anywhere. The log says when threads cannot be pinned.
std::vector<ThreadPlace> PlacesOnMachine(uint32_t threads, bool pin);

}  // namespace owml::native
