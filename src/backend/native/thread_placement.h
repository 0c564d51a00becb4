// Which processors the threads of a pool may run on, and which memory node the thread that does a part of a job is on.
// Used by the pool of a forward pass, and where weights and caches are given their nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/native/topology.h"

namespace owml::native {

// The nodes of some processors, each with the part of every job that its threads do: as large as its part of the
// processors.
class NodeShares {
 public:
  // In the order of Topology::processors.
  explicit NodeShares(const std::vector<Processor>& processors);

  struct Share {
    uint32_t node = 0;
    uint64_t end = 0;  // processors up to and with those of this node
  };
  const std::vector<Share>& shares() const { return shares_; }

  // The node on which the middle of part `part` of `parts` equal ones is done.
  uint32_t NodeOf(uint64_t part, uint64_t parts) const;

 private:
  std::vector<Share> shares_;
};

struct ThreadPlace {
  std::vector<uint32_t> processors;  // never empty
  uint32_t node = 0;
};

// Threads go to the nodes by their shares, thread 0 to the first. Pinned, each has one processor, and cores are used
// once before they are used twice; otherwise each has all processors of its node.
std::vector<ThreadPlace> PlaceThreads(const std::vector<Processor>& processors, uint32_t threads, bool pin);

}  // namespace owml::native
