// The compatibility check of a pipeline and the preparation of its sessions.
// See build.h.
#include "runtime/build.h"

#include "base/error.h"
#include "com/wide.h"
#include "runtime/context_groups.h"
#include "runtime/execution_target.h"
#include "runtime/schema_desc.h"

namespace owml {
namespace {

// What Build makes for a stage; moved into the node when all of them are there.
struct Prepared {
  std::unique_ptr<BackendSession> session;
  ComPtr<IWinMLExecutionTarget> target;
  BuildOutcome outcome;

  const Schema& schema(const StageNode& node) const { return session ? session->schema() : *node.processor_schema; }
};

void Require(bool condition, HRESULT code, const std::string& message) {
  if (!condition) throw Error(code, message);
}

// The rules that hold for every backend.
void RequireConsistentOptions(const StageNode& node, const Placement* placement) {
  const SessionOptions& options = node.options;
  Require(!options.draft_predictor_enabled || options.draft_token_limit != 0, E_INVALIDARG,
          node.label + ": the draft predictor is enabled while the draft token limit is 0");
  Require(options.draft_predictor_path.empty() || options.draft_predictor_enabled, E_INVALIDARG,
          node.label + ": a draft predictor path is set while the draft predictor is not enabled");
  const bool pinned = placement && !placement->provider.empty();
  Require(options.provider_options.empty() || pinned, E_INVALIDARG,
          node.label + ": provider options are set, but its target pins no execution provider");
  Require(!pinned || !node.model || node.is_onnx(), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
          node.label + ": its target pins the execution provider " + (pinned ? placement->provider : std::string()) +
              ", which means nothing to a model that is not ONNX");
}

SessionOptions OptionsForBuild(const StageNode& node, const Placement* placement, const ContextGroups& groups) {
  SessionOptions options = node.options;
  if (placement) {
    options.device = placement->kind;
    options.device_id = placement->device_id;
    options.provider = placement->provider;
  }
  groups.AddEntries(node, options);
  options.published_outputs.clear();
  for (const OutputSlot& slot : node.outputs)
    options.published_outputs.push_back(slot.state != OutputState::kUnpublished);
  return options;
}

Prepared PrepareStage(const StageNode& node, const ContextGroups& groups) {
  Prepared made;
  made.target = node.target;
  if (node.model) {
    const Placement* placement = PlacementOf(node.target.Get());
    made.session = node.model->CreateSession(OptionsForBuild(node, placement, groups));
    made.outcome.report = made.session->report();
    made.outcome.engine_reason = ToWide(made.outcome.report.engine_reason);
    made.outcome.selected_provider = ToWide(made.outcome.report.provider);
    if (placement) made.outcome.requested_provider = ToWide(placement->provider);
    if (!made.target) {
      Placement chosen;
      chosen.kind = made.outcome.report.device;
      made.target = MakeExecutionTarget(chosen);
    }
  } else if (!made.target) {
    made.target = MakeExecutionTarget(Placement{});
  }
  return made;
}

void RequireIndex(const StageNode& node, const char* side, size_t index, size_t count) {
  Require(index < count, E_INVALIDARG,
          SlotLabel(side, index, node) + " does not exist; the stage has " + std::to_string(count));
}

// Free extents agree with everything.
bool CanFollow(const TensorSpec& from, const TensorSpec& to) {
  if (from.dtype != to.dtype || from.dims.size() != to.dims.size()) return false;
  for (size_t axis = 0; axis < from.dims.size(); ++axis) {
    if (from.dims[axis] != to.dims[axis] && from.dims[axis] != kFreeDimension && to.dims[axis] != kFreeDimension)
      return false;
  }
  return true;
}

void CheckEdges(const PipelineCore& core, const std::vector<Edge>& edges, const std::vector<Prepared>& prepared) {
  for (const Edge& edge : edges) {
    const StageNode& source = *core.stages[edge.source];
    const StageNode& target = *core.stages[edge.target];
    const Schema& from = prepared[edge.source].schema(source);
    const Schema& to = prepared[edge.target].schema(target);
    RequireIndex(source, "output", edge.output, from.outputs.size());
    RequireIndex(target, "input", edge.input, to.inputs.size());
    const TensorSpec& output = from.outputs[edge.output];
    const TensorSpec& input = to.inputs[edge.input];
    Require(CanFollow(output, input), E_INVALIDARG,
            SlotLabel("output", edge.output, source) + " gives " + ToString(output.dtype, output.dims) + ", " +
                SlotLabel("input", edge.input, target) + " takes " + ToString(input.dtype, input.dims));
  }
}

void CheckBindings(const PipelineCore& core, const std::vector<Prepared>& prepared) {
  for (size_t s = 0; s < core.stages.size(); ++s) {
    const StageNode& node = *core.stages[s];
    const Schema& schema = prepared[s].schema(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      IWinMLTensor* tensor = node.inputs[i].Get();
      if (!tensor) continue;
      RequireIndex(node, "input", i, schema.inputs.size());
      Require(!core.graph.FeedOf(s, static_cast<uint32_t>(i)), E_INVALIDARG,
              SlotLabel("input", i, node) + " is bound and connected; it can have one source only");
      RequireBindable(node, "input", i, &schema, tensor);
    }
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      const OutputSlot& slot = node.outputs[o];
      if (slot.state == OutputState::kUnpublished) continue;
      RequireIndex(node, "output", o, schema.outputs.size());
      if (slot.bound) RequireBindable(node, "output", o, &schema, slot.bound.Get());
    }
    for (const StatePair& pair : node.options.state_pairs) {
      RequireIndex(node, "input", pair.input, schema.inputs.size());
      RequireIndex(node, "output", pair.output, schema.outputs.size());
    }
  }
}

RunPlan MakePlan(const PipelineCore& core, std::vector<size_t> order, const std::vector<Prepared>& prepared) {
  RunPlan plan;
  plan.order = std::move(order);
  plan.feedback = core.graph.feedback_edges();
  plan.retained.resize(plan.feedback.size());
  plan.next.resize(plan.feedback.size());
  for (size_t s = 0; s < core.stages.size(); ++s) {
    const StageNode& node = *core.stages[s];
    const Schema& schema = prepared[s].schema(node);
    StagePlan& stage = plan.stages.emplace_back();
    stage.stage = s;
    stage.inputs.resize(schema.inputs.size());
    stage.consumed.resize(schema.outputs.size());
    stage.results.resize(schema.outputs.size());
    stage.input_values.resize(schema.inputs.size());
    stage.output_values.resize(schema.outputs.size());
    stage.input_tensors.resize(schema.inputs.size());
    stage.output_tensors.resize(schema.outputs.size());
    stage.accesses.reserve(schema.inputs.size() + schema.outputs.size());
    for (size_t i = 0; i < schema.inputs.size(); ++i) stage.input_labels.push_back(SlotLabel("input", i, node));
    for (size_t o = 0; o < schema.outputs.size(); ++o) stage.output_labels.push_back(SlotLabel("output", o, node));
  }
  for (const Edge& edge : core.graph.edges()) {
    plan.stages[edge.source].consumed[edge.output] = true;
    InputFeed& feed = plan.stages[edge.target].inputs[edge.input];
    feed.kind = InputFeed::Kind::kEdge;
    feed.source = edge.source;
    feed.output = edge.output;
  }
  for (size_t e = 0; e < plan.feedback.size(); ++e) {
    const Edge& edge = plan.feedback[e];
    plan.stages[edge.source].consumed[edge.output] = true;
    InputFeed& feed = plan.stages[edge.target].inputs[edge.input];
    feed.kind = InputFeed::Kind::kFeedback;
    feed.retained = e;
  }
  // Another stage, or the next iteration, would miss the outputs that such a run does not write.
  if (prepared.size() == 1 && plan.feedback.empty() && prepared.front().session) {
    const BestTokens* const ability = prepared.front().session->best_tokens();
    plan.max_best = ability ? ability->max_best_tokens() : 0;
    plan.best.reserve(plan.max_best);
  }
  return plan;
}

}  // namespace

std::string SlotLabel(const char* side, size_t index, const StageNode& node) {
  return std::string(side) + " " + std::to_string(index) + " of " + node.label;
}

void RequireBindable(const StageNode& node, const char* side, size_t index, const Schema* schema,
                     IWinMLTensor* tensor) {
  DType dtype = DType::kUndefined;
  Dims dims;
  const std::string what = SlotLabel(side, index, node);
  ReadTensorDesc(tensor, what.c_str(), &dtype, &dims);
  if (!schema) return;
  RequireMatch((side[0] == 'i' ? schema->inputs : schema->outputs)[index], dtype, dims, what);
}

void BuildPipeline(PipelineCore& core) {
  const ExclusiveUse use(core);
  Require(!core.stages.empty(), E_INVALIDARG, "the builder has no stages");
  std::vector<size_t> order = core.graph.Order();
  for (const auto& node : core.stages) RequireConsistentOptions(*node, PlacementOf(node->target.Get()));
  const ContextGroups groups(core);
  std::vector<Prepared> prepared(core.stages.size());
  for (const size_t stage : groups.preparation_order()) prepared[stage] = PrepareStage(*core.stages[stage], groups);
  CheckEdges(core, core.graph.edges(), prepared);
  CheckEdges(core, core.graph.feedback_edges(), prepared);
  CheckBindings(core, prepared);
  RunPlan plan = MakePlan(core, std::move(order), prepared);

  const std::lock_guard lock(core.mutex);
  for (size_t s = 0; s < core.stages.size(); ++s) {
    core.stages[s]->inputs.resize(plan.stages[s].inputs.size());
    core.stages[s]->outputs.resize(plan.stages[s].results.size());
  }
  for (size_t s = 0; s < core.stages.size(); ++s) {  // nothing fails from here on
    core.stages[s]->session = std::move(prepared[s].session);
    core.stages[s]->target = std::move(prepared[s].target);
    core.stages[s]->outcome = std::move(prepared[s].outcome);
  }
  core.plan = std::move(plan);
  core.built = true;
}

}  // namespace owml
