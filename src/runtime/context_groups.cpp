// Rules of shared-context groups.
// See context_groups.h.
#include "runtime/context_groups.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "runtime/execution_target.h"

namespace owml {
namespace {

bool SamePlacement(const StageNode& a, const StageNode& b) {
  const Placement automatic;
  const Placement* first = PlacementOf(a.target.Get());
  const Placement* second = PlacementOf(b.target.Get());
  if (!first != !second) return false;
  if (!first) first = second = &automatic;
  return first->kind == second->kind && first->provider == second->provider && first->device_id == second->device_id;
}

void AddEntry(SessionOptions& options, const char* key) {
  const auto same = [&](const auto& entry) { return entry.first == key; };
  if (std::none_of(options.session_config.begin(), options.session_config.end(), same)) {
    options.session_config.emplace_back(key, "1");
  }
}

}  // namespace

ContextGroups::ContextGroups(const PipelineCore& core) : last_of_group_(core.stages.size()) {
  std::map<std::string, std::vector<size_t>> members;
  for (const auto& node : core.stages) {
    if (!node->context_group.empty()) members[node->context_group].push_back(node->number);
  }
  for (const auto& [name, stages] : members) {
    const StageNode& first = *core.stages[stages.front()];
    if (stages.size() < 2) {
      throw Error(E_INVALIDARG, "shared-context group '" + name + "' has one member only, " + first.label);
    }
    for (const size_t stage : stages) {
      const StageNode& other = *core.stages[stage];
      if (!SamePlacement(first, other) || first.options.provider_options != other.options.provider_options) {
        throw Error(E_INVALIDARG, "shared-context group '" + name + "': " + first.label + " and " + other.label +
                                      " differ in provider, device or provider options");
      }
    }
    last_of_group_[stages.back()] = true;
  }
  std::vector<bool> placed(core.stages.size());
  for (const auto& node : core.stages) {
    if (placed[node->number]) continue;
    const std::vector<size_t> together =
        node->context_group.empty() ? std::vector<size_t>{node->number} : members[node->context_group];
    for (const size_t stage : together) {
      placed[stage] = true;
      order_.push_back(stage);
    }
  }
}

void ContextGroups::AddEntries(const StageNode& node, SessionOptions& options) const {
  if (node.context_group.empty()) return;
  AddEntry(options, "ep.share_ep_contexts");
  if (last_of_group_[node.number]) AddEntry(options, "ep.stop_share_ep_contexts");
}

}  // namespace owml
