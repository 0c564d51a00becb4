// The machinery behind the handles of one pipeline: stages, graph, and the rules for who may touch them when.
// Plain and shared: builder, pipeline and every stage handle hold it, it holds none of them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/graph.h"
#include "runtime/run_plan.h"
#include "runtime/stage_node.h"

namespace owml {

// Two locks. `busy` is held for a whole Run, Build, reset, sequence operation or binding change; who finds it taken
// answers ERROR_BUSY and never waits. `mutex` covers the single fields that getters read while a run may be going on
// (bound and produced outputs, options, `built`, the graph before Build); no foreign code but AddRef runs under it, and
// a last reference to a foreign object is dropped only after it.
struct PipelineCore {
  std::atomic<bool> busy{false};
  std::mutex mutex;
  bool built = false;

  Graph graph;
  std::vector<std::unique_ptr<StageNode>> stages;
  RunPlan plan;  // made by Build
};

// Holds `busy`. Throws ERROR_BUSY when somebody else does.
class ExclusiveUse {
 public:
  explicit ExclusiveUse(PipelineCore& core);
  ~ExclusiveUse() { core_.busy.store(false, std::memory_order_release); }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;

 private:
  PipelineCore& core_;
};

// A stage of a pipeline; keeps the whole machinery alive.
struct StageRef {
  std::shared_ptr<PipelineCore> core;
  StageNode* node = nullptr;
};

// Throws E_NOT_VALID_STATE before Build.
void RequireBuilt(PipelineCore& core);

// Throws E_NOT_VALID_STATE once Build has consumed the stage's options.
void RequireOpen(PipelineCore& core);

// Runs `edit` on the node while its options may still change.
template <class Edit>
void EditOptions(const StageRef& stage, Edit&& edit) {
  RequireOpen(*stage.core);
  const ExclusiveUse use(*stage.core);
  RequireOpen(*stage.core);
  const std::lock_guard lock(stage.core->mutex);
  edit(*stage.node);
}

// Runs `read` on the node; it must not call foreign code.
template <class Read>
auto ReadNode(const StageRef& stage, Read&& read) {
  const std::lock_guard lock(stage.core->mutex);
  return read(static_cast<const StageNode&>(*stage.node));
}

}  // namespace owml
