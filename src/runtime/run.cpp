// The run loop: values travel along the edges, results are published when all stages are done.
// See run.h; processor stages are called by run_processor.cpp.
#include "runtime/run.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/error.h"
#include "runtime/run_processor.h"
#include "tensor/host_tensor.h"

namespace owml {
namespace {

// Keeps the capacity of `to.dims`, so that a run with bound tensors allocates nothing here.
void SetView(TensorView& to, const TensorView& from) {
  to.dtype = from.dtype;
  to.dims.assign(from.dims.begin(), from.dims.end());
  to.data = from.data;
  to.bytes = from.bytes;
}

// Before anything runs: every input has a value, a binding, or a session that feeds it.
void RequireInputs(const PipelineCore& core) {
  for (const StagePlan& plan : core.plan.stages) {
    const StageNode& node = *core.stages[plan.stage];
    for (uint32_t i = 0; i < plan.inputs.size(); ++i) {
      const InputFeed& feed = plan.inputs[i];
      if (feed.kind == InputFeed::Kind::kEdge || node.inputs[i]) continue;
      if (feed.kind == InputFeed::Kind::kFeedback) {
        if (!core.plan.retained[feed.retained].empty()) continue;
        throw Error(E_INVALIDARG,
                    plan.input_labels[i] + " takes the last iteration's value; bind a tensor for the first iteration");
      }
      if (node.session && node.session->FeedsInput(i)) continue;
      throw Error(E_INVALIDARG, plan.input_labels[i] + " is neither connected nor bound");
    }
  }
}

// The value of an input from inside the pipeline, or null when the binding counts.
StageValue* ConnectedValue(PipelineCore& core, const InputFeed& feed) {
  switch (feed.kind) {
    case InputFeed::Kind::kEdge:
      return &core.plan.stages[feed.source].results[feed.output];
    case InputFeed::Kind::kFeedback:
      if (!core.plan.retained[feed.retained].empty()) return &core.plan.retained[feed.retained];
      return nullptr;
    case InputFeed::Kind::kBinding:
      break;
  }
  return nullptr;
}

IWinMLTensor* TensorOf(StageValue& value) {
  if (!value.tensor) value.tensor = MakeHostTensor(value.buffer, false);
  return value.tensor.Get();
}

// A state output that the caller left unbound goes back into the paired input, which is then reported as the output.
bool StaysInPlace(const StageNode& node, const StagePlan& plan, const StatePair& pair) {
  return node.options.caller_owns_state && plan.inputs[pair.input].kind == InputFeed::Kind::kBinding &&
         node.inputs[pair.input] && node.outputs[pair.output].state != OutputState::kCallerBound;
}

// Views of what a model stage takes, and the locks that they need.
void TakeInputs(PipelineCore& core, const StageNode& node, StagePlan& plan) {
  const auto access_mode = [&](uint32_t input) {
    for (const StatePair& pair : node.options.state_pairs) {
      if (pair.input == input && StaysInPlace(node, plan, pair)) return AccessMode::kReadWrite;
    }
    return AccessMode::kRead;
  };

  for (uint32_t i = 0; i < plan.inputs.size(); ++i) {
    InputValue& value = plan.input_values[i];
    StageValue* connected = ConnectedValue(core, plan.inputs[i]);
    if (connected && connected->has_buffer && !connected->tensor) {
      SetView(value.view, connected->buffer.view);
      value.bound = true;
      continue;
    }
    IWinMLTensor* tensor = connected ? connected->tensor.Get() : node.inputs[i].Get();
    value.bound = tensor != nullptr;
    if (!tensor) continue;
    const AccessMode mode = connected ? AccessMode::kRead : access_mode(i);
    SetView(value.view, plan.accesses.emplace_back(tensor, mode, plan.input_labels[i].c_str()).view());
  }
}

void RunModelStage(PipelineCore& core, StageNode& node, StagePlan& plan) {
  TakeInputs(core, node, plan);
  for (uint32_t o = 0; o < plan.output_values.size(); ++o) {
    OutputValue& value = plan.output_values[o];
    const OutputSlot& slot = node.outputs[o];
    if (slot.state == OutputState::kCallerBound) {
      const TensorAccess& access =
          plan.accesses.emplace_back(slot.bound.Get(), AccessMode::kWrite, plan.output_labels[o].c_str());
      if (!value.destination) value.destination.emplace();
      SetView(*value.destination, access.view());
      value.wanted = true;
    } else {
      value.destination.reset();
      value.wanted = slot.state == OutputState::kRequested || plan.consumed[o];
    }
  }
  for (const StatePair& pair : node.options.state_pairs) {
    if (StaysInPlace(node, plan, pair)) plan.output_values[pair.output].wanted = true;
  }

  node.session->Run(plan.input_values, plan.output_values);

  for (uint32_t o = 0; o < plan.output_values.size(); ++o) {
    OutputValue& value = plan.output_values[o];
    StageValue& result = plan.results[o];
    if (!value.wanted) continue;
    if (value.destination) {
      result.tensor = node.outputs[o].bound;
    } else {
      result.buffer = std::move(value.produced);
      value.produced = TensorBuffer{};
      result.has_buffer = true;
    }
  }
  for (const StatePair& pair : node.options.state_pairs) {
    if (!StaysInPlace(node, plan, pair)) continue;
    StageValue& result = plan.results[pair.output];
    const TensorView& home = plan.input_values[pair.input].view;
    const TensorView& made = result.buffer.view;
    if (made.dtype != home.dtype || made.dims != home.dims) {
      throw Error(E_UNEXPECTED, node.label + " left state " + ToString(made.dtype, made.dims) + " for output " +
                                    std::to_string(pair.output) + ", its input holds " +
                                    ToString(home.dtype, home.dims));
    }
    if (made.data != home.data && home.bytes != 0) std::memcpy(home.data, made.data, home.bytes);
    result = StageValue{};
    result.tensor = node.inputs[pair.input];
  }
  for (TensorAccess& access : plan.accesses) access.Commit();
  plan.accesses.clear();
}

void RunProcessorStage(PipelineCore& core, StageNode& node, StagePlan& plan) {
  for (uint32_t i = 0; i < plan.inputs.size(); ++i) {
    StageValue* connected = ConnectedValue(core, plan.inputs[i]);
    plan.input_tensors[i] = connected ? TensorOf(*connected) : node.inputs[i].Get();
  }
  CallProcessor(node, plan);
}

// A copy in the runtime's own memory; for a value whose storage the next run may write to.
ComPtr<IWinMLTensor> HostCopy(IWinMLTensor* tensor, const std::string& label) {
  TensorAccess from(tensor, AccessMode::kRead, label.c_str());
  ComPtr<IWinMLTensor> copy = MakeHostTensor(from.view().dtype, from.view().dims);
  TensorAccess to(copy.Get(), AccessMode::kWrite, label.c_str());
  if (from.view().bytes != 0) std::memcpy(to.view().data, from.view().data, from.view().bytes);
  return copy;
}

// What a runtime-owned output hands out must be readable with a plain lock.
ComPtr<IWinMLTensor> Publication(StageValue& value, const StageNode& node) {
  IWinMLTensor* tensor = TensorOf(value);
  if (!node.processor) return tensor;
  ComPtr<IWinMLTensorDataLock> lock;
  const HRESULT direct = tensor->Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE, lock.GetAddressOf());
  if (direct == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)) return HostCopy(tensor, node.label);
  return tensor;
}

// Everything that can fail first, then the exchange.
void Publish(PipelineCore& core) {
  RunPlan& plan = core.plan;
  for (StagePlan& stage : plan.stages) {
    const StageNode& node = *core.stages[stage.stage];
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      if (node.outputs[o].state == OutputState::kRequested)
        plan.publications.push_back(Publication(stage.results[o], node));
    }
  }
  // A value that somebody else holds as a tensor is kept as a copy: they may write to it before the next iteration.
  for (size_t e = 0; e < plan.feedback.size(); ++e) {
    const StageNode& source = *core.stages[plan.feedback[e].source];
    StageValue& value = plan.stages[plan.feedback[e].source].results[plan.feedback[e].output];
    if (value.tensor) {
      plan.next[e].tensor = HostCopy(value.tensor.Get(), source.label);
    } else {
      plan.next[e] = value;
    }
  }
  if (!plan.publications.empty()) {
    const std::lock_guard lock(core.mutex);
    auto next = plan.publications.begin();
    for (const auto& node : core.stages) {
      for (OutputSlot& slot : node->outputs) {
        if (slot.state == OutputState::kRequested) std::swap(slot.produced, *next++);
      }
    }
  }
  plan.retained.swap(plan.next);
}

// Drops what a run held, however it ended.
class RunScratch {
 public:
  explicit RunScratch(RunPlan& plan) : plan_(plan) {}
  ~RunScratch() {
    for (StagePlan& stage : plan_.stages) {
      stage.accesses.clear();
      for (OutputValue& value : stage.output_values) value.produced = TensorBuffer{};
      for (StageValue& value : stage.results) {
        if (!value.empty()) value = StageValue{};
      }
    }
    for (StageValue& value : plan_.next) {
      if (!value.empty()) value = StageValue{};
    }
    plan_.publications.clear();
  }
  RunScratch(const RunScratch&) = delete;
  RunScratch& operator=(const RunScratch&) = delete;

 private:
  RunPlan& plan_;
};

}  // namespace

void RunPipeline(PipelineCore& core) {
  const ExclusiveUse use(core);
  RequireInputs(core);
  const RunScratch scratch(core.plan);
  for (const size_t stage : core.plan.order) {
    StageNode& node = *core.stages[stage];
    node.step_pending = false;
    if (node.session) {
      RunModelStage(core, node, core.plan.stages[stage]);
    } else {
      RunProcessorStage(core, node, core.plan.stages[stage]);
    }
  }
  Publish(core);
}

void RunForBest(PipelineCore& core, std::span<OWML_TOKEN_LOGIT> best) {
  const ExclusiveUse use(core);
  StageNode& node = *core.stages.front();
  StagePlan& plan = core.plan.stages.front();
  for (size_t o = 0; o < node.outputs.size(); ++o) {
    if (node.outputs[o].state == OutputState::kUnpublished) continue;
    throw Error(E_NOT_VALID_STATE, plan.output_labels[o] + " is bound or requested; a run for the best tokens writes " +
                                       "no output, so reset it first (IWinMLStage::ResetOutput)");
  }
  RequireInputs(core);
  const RunScratch scratch(core.plan);
  node.step_pending = false;
  TakeInputs(core, node, plan);
  core.plan.best.resize(best.size());
  node.session->best_tokens()->RunForBest(plan.input_values, core.plan.best);
  std::ranges::transform(core.plan.best, best.begin(), [](const TokenLogit& entry) {
    return OWML_TOKEN_LOGIT{static_cast<UINT32>(entry.token), entry.logit};
  });
}

void ResetPipeline(PipelineCore& core) {
  const ExclusiveUse use(core);
  for (StageValue& value : core.plan.retained) value = StageValue{};
  std::exception_ptr failure;
  for (const auto& node : core.stages) {
    node->step_pending = false;
    if (!node->session) continue;
    try {
      node->session->Reset();
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace owml
