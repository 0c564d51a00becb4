// Asking the system whether there is more than one node costs one small file; the topology is read behind that.
// A machine that cannot be read is used without places.
#include "backend/native/machine.h"

#include <fstream>
#include <utility>

#include "backend/native/thread_affinity.h"
#include "base/log.h"

namespace owml::native {
namespace {

bool SystemHasNodes() {
  std::ifstream file("/sys/devices/system/node/online");
  std::string nodes;  // "0", "0-3" or "0,2"
  return std::getline(file, nodes) && nodes.find_first_of("-,") != std::string::npos;
}

const Machine* FindMachine(std::string* why_not) {
  static std::string failure;
  static const std::unique_ptr<const Machine> machine = [] {
    std::unique_ptr<const Machine> found;
    auto topology = MachineTopology(&failure);
    if (!topology) return found;
    std::vector<Processor> usable;
    const ProcessorSet mask = ProcessorSet::OfThisThread();
    for (const Processor& processor : topology->processors()) {
      if (mask.Holds(processor.number)) usable.push_back(processor);
    }
    if (usable.empty()) {
      failure = "the affinity mask holds none of the processors that hwloc finds";
      return found;
    }
    NodeShares nodes(usable);
    found.reset(new Machine{std::move(topology), std::move(usable), std::move(nodes)});
    return found;
  }();
  if (!machine) *why_not = failure;
  return machine.get();
}

}  // namespace

const Machine* MachineWithNodes() {
  static const Machine* const machine = []() -> const Machine* {
    if (!SystemHasNodes()) return nullptr;
    std::string why_not;
    const Machine* const found = FindMachine(&why_not);
    if (!found) Log(OWML_LOG_LEVEL_WARNING, "native", "memory is not placed on its node: " + why_not);
    return found && found->nodes.shares().size() > 1 ? found : nullptr;
  }();
  return machine;
}

std::vector<ThreadPlace> PlacesOnMachine(uint32_t threads, bool pin) {
  if (!pin) {
    const Machine* const machine = MachineWithNodes();
    return machine ? PlaceThreads(machine->usable, threads, false) : std::vector<ThreadPlace>{};
  }
  std::string why_not;
  const Machine* const machine = FindMachine(&why_not);
  if (!machine) {
    Log(OWML_LOG_LEVEL_WARNING, "native", "threads are not pinned: " + why_not);
    return {};
  }
  auto places = PlaceThreads(machine->usable, threads, true);
  std::string text;
  for (const ThreadPlace& place : places) text += " " + std::to_string(place.processors.front());
  Log(OWML_LOG_LEVEL_INFO, "native", "threads are pinned to processors" + text);
  return places;
}

}  // namespace owml::native
