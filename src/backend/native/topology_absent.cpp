// A build without hwloc knows no topology.
// Takes the place of topology_hwloc.cpp.
#include "backend/native/topology.h"

namespace owml::native {

std::unique_ptr<Topology> MachineTopology(std::string* why_not) {
  *why_not = "this build has no hwloc";
  return nullptr;
}

std::unique_ptr<Topology> DescribedTopology(const std::string&, std::string* why_not) {
  return MachineTopology(why_not);
}

}  // namespace owml::native
