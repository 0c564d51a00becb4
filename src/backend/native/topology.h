// The processors of a machine with their cores and memory nodes, and the keeping of memory on a node.
// Asked when threads are pinned and where there are several nodes; tests describe machines that they do not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace owml::native {

struct Processor {
  uint32_t number = 0;  // of the operating system
  uint32_t core = 0;    // processors with the same one share a core
  uint32_t node = 0;    // of memory, as the operating system numbers it
};

class Topology {
 public:
  Topology() = default;
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  // In an order in which neighbours share the most. Those of a node stand together.
  virtual const std::vector<Processor>& processors() const = 0;

  // Asks the system to keep whole pages on a node, as far as it has room there, and to move those that are elsewhere.
  // False where it does not.
  virtual bool Keep(std::byte* pages, size_t bytes, uint32_t node) const = 0;
};

// That of this machine. Null, with a clause in `why_not`, where it cannot be found out.
std::unique_ptr<Topology> MachineTopology(std::string* why_not);

// A machine in hwloc's words, such as "node:2 core:4 pu:1"; to keep memory there does nothing. Null, with a clause, as
// above.
std::unique_ptr<Topology> DescribedTopology(const std::string& description, std::string* why_not);

}  // namespace owml::native
