// Numbers only; machine.cpp knows the machine, thread_affinity.cpp binds.
// Parts of a job and threads are divided by the same shares, so that the two agree.
#include "backend/native/thread_placement.h"

#include <algorithm>
#include <set>

namespace owml::native {

NodeShares::NodeShares(const std::vector<Processor>& processors) {
  for (const Processor& processor : processors) {
    if (shares_.empty() || shares_.back().node != processor.node) {
      shares_.push_back({processor.node, shares_.empty() ? 0 : shares_.back().end});
    }
    ++shares_.back().end;
  }
  if (shares_.empty()) shares_.push_back({0, 1});
}

uint32_t NodeShares::NodeOf(uint64_t part, uint64_t parts) const {
  const uint64_t all = shares_.back().end;
  for (const Share& share : shares_) {
    if ((2 * part + 1) * all <= 2 * parts * share.end) return share.node;
  }
  return shares_.back().node;
}

std::vector<ThreadPlace> PlaceThreads(const std::vector<Processor>& processors, uint32_t threads, bool pin) {
  std::vector<ThreadPlace> places;
  if (processors.empty()) return places;
  const NodeShares nodes(processors);
  const uint64_t all = processors.size();
  uint64_t begin = 0;
  for (const NodeShares::Share& share : nodes.shares()) {
    // Whole cores first.
    std::vector<uint32_t> here, again;
    std::set<uint32_t> cores;
    for (uint64_t i = begin; i < share.end; ++i) {
      (cores.insert(processors[i].core).second ? here : again).push_back(processors[i].number);
    }
    begin = share.end;
    here.insert(here.end(), again.begin(), again.end());
    // A thread belongs to the node on which the middle of its part lies.
    for (uint64_t i = 0; places.size() < threads; ++i) {
      if ((2 * places.size() + 1) * all > 2 * uint64_t{threads} * share.end) break;
      places.push_back({pin ? std::vector<uint32_t>{here[i % here.size()]} : here, share.node});
    }
  }
  return places;
}

}  // namespace owml::native
