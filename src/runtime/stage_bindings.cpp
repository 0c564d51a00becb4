// The binding rules of a stage.
// See stage_bindings.h.
#include "runtime/stage_bindings.h"

#include "com/guard.h"
#include "com/wide.h"
#include "runtime/build.h"

namespace owml {
namespace {

// Spec-open: while a backend has not settled its counts, any position below this bound may be bound; Build checks it
// again.
constexpr UINT32 kMaxUnsettledSlots = 4096;

enum class Side { kInput, kOutput };

const char* Name(Side side) { return side == Side::kInput ? "input" : "output"; }

void RequireSlot(const StageNode& node, Side side, UINT32 index) {
  const Schema* schema = node.schema();
  const size_t count = !schema                ? kMaxUnsettledSlots
                       : side == Side::kInput ? schema->inputs.size()
                                              : schema->outputs.size();
  Require(index < count, E_INVALIDARG,
          SlotLabel(Name(side), index, node) + " does not exist; the stage has " + (schema ? "" : "at most ") +
              std::to_string(count));
}

// Grows the slots of a stage whose counts are not settled yet; a built stage has them all.
template <class Slot>
Slot& SlotAt(std::vector<Slot>& slots, UINT32 index) {
  if (slots.size() <= index) slots.resize(index + size_t{1});
  return slots[index];
}

void BindInputAt(const StageRef& stage, UINT32 index, IWinMLTensor* tensor) {
  PipelineCore& core = *stage.core;
  StageNode& node = *stage.node;
  const ExclusiveUse use(core);
  RequireSlot(node, Side::kInput, index);
  if (tensor) RequireBindable(node, "input", index, node.schema(), tensor);
  ComPtr<IWinMLTensor> bound = tensor;  // afterwards the old one, dropped outside the lock
  const std::lock_guard lock(core.mutex);
  // Spec-open: an input has one source, so a connected input takes no tensor.
  Require(!tensor || !core.graph.FeedOf(node.number, index), E_INVALIDARG,
          SlotLabel("input", index, node) + " is connected to another stage");
  std::swap(SlotAt(node.inputs, index), bound);
}

void SetOutput(const StageRef& stage, UINT32 index, OutputState state, IWinMLTensor* tensor) {
  PipelineCore& core = *stage.core;
  StageNode& node = *stage.node;
  const ExclusiveUse use(core);
  RequireSlot(node, Side::kOutput, index);
  if (tensor) RequireBindable(node, "output", index, node.schema(), tensor);
  OutputSlot changed;
  changed.state = state;
  changed.bound = tensor;
  const std::lock_guard lock(core.mutex);
  OutputSlot& slot = SlotAt(node.outputs, index);
  if (state == OutputState::kRequested && slot.state == state) return;  // the last result stays readable
  std::swap(slot, changed);
}

void GetOutputAt(const StageRef& stage, UINT32 index, IWinMLTensor** tensor) {
  const std::lock_guard lock(stage.core->mutex);
  const StageNode& node = *stage.node;
  RequireSlot(node, Side::kOutput, index);
  const OutputSlot unpublished;
  const OutputSlot& slot = index < node.outputs.size() ? node.outputs[index] : unpublished;
  switch (slot.state) {
    case OutputState::kUnpublished:
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_FOUND),
                  SlotLabel("output", index, node) + " is neither bound nor requested");
    case OutputState::kCallerBound:
      *tensor = AddedRef(slot.bound.Get());
      break;
    case OutputState::kRequested:
      Require(slot.produced != nullptr, E_NOT_VALID_STATE,
              SlotLabel("output", index, node) + " has not been produced yet");
      *tensor = AddedRef(slot.produced.Get());
      break;
  }
}

// The artifact's own names, so that it works before Build too.
UINT32 IndexOf(const StageRef& stage, Side side, LPCWSTR name) {
  Require(name != nullptr, E_INVALIDARG, "name is null");
  const std::string wanted = ToUtf8(name);
  const Schema* schema = ReadNode(stage, [](const StageNode& node) { return node.schema(); });
  if (schema && !wanted.empty()) {
    const std::vector<TensorSpec>& specs = side == Side::kInput ? schema->inputs : schema->outputs;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].name == wanted) return static_cast<UINT32>(i);
    }
  }
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), stage.node->label + " has no " + Name(side) + " '" + wanted + "'");
}

}  // namespace

HRESULT StageBindingMethods::GetDebugName(LPCWSTR* debugName) noexcept {
  return Guard("IWinMLStage::GetDebugName", [&] {
    RequireOut(debugName, "debugName");
    *debugName = stage().node->debug_name.c_str();  // Spec-open: owned by the stage, "" when it has none
  });
}

HRESULT StageBindingMethods::BindInput(UINT32 index, IWinMLTensor* tensor) noexcept {
  return Guard("IWinMLStage::BindInput", [&] { BindInputAt(stage(), index, tensor); });
}

HRESULT StageBindingMethods::BindOutput(UINT32 index, IWinMLTensor* tensor) noexcept {
  return Guard("IWinMLStage::BindOutput", [&] {
    RequirePointer(tensor, "tensor");
    SetOutput(stage(), index, OutputState::kCallerBound, tensor);
  });
}

HRESULT StageBindingMethods::GetOutput(UINT32 index, IWinMLTensor** tensor) noexcept {
  return Guard("IWinMLStage::GetOutput", [&] {
    RequireOut(tensor, "tensor");
    GetOutputAt(stage(), index, tensor);
  });
}

HRESULT StageBindingMethods::RequestOutput(UINT32 index) noexcept {
  return Guard("IWinMLStage::RequestOutput", [&] { SetOutput(stage(), index, OutputState::kRequested, nullptr); });
}

HRESULT StageBindingMethods::ResetOutput(UINT32 index) noexcept {
  return Guard("IWinMLStage::ResetOutput", [&] { SetOutput(stage(), index, OutputState::kUnpublished, nullptr); });
}

HRESULT StageBindingMethods::GetExecutionTarget(IWinMLExecutionTarget** target) noexcept {
  return Guard("IWinMLStage::GetExecutionTarget", [&] {
    RequireOut(target, "target");
    RequireBuilt(*stage().core);
    *target = AddedRef(stage().node->target.Get());
  });
}

HRESULT StageNamedBindingMethods::BindInputByName(LPCWSTR name, IWinMLTensor* tensor) noexcept {
  return Guard("IWinMLOrtNamedBindings::BindInputByName",
               [&] { BindInputAt(stage(), IndexOf(stage(), Side::kInput, name), tensor); });
}

HRESULT StageNamedBindingMethods::BindOutputByName(LPCWSTR name, IWinMLTensor* tensor) noexcept {
  return Guard("IWinMLOrtNamedBindings::BindOutputByName", [&] {
    const UINT32 index = IndexOf(stage(), Side::kOutput, name);
    RequirePointer(tensor, "tensor");
    SetOutput(stage(), index, OutputState::kCallerBound, tensor);
  });
}

HRESULT StageNamedBindingMethods::GetOutputByName(LPCWSTR name, IWinMLTensor** tensor) noexcept {
  return Guard("IWinMLOrtNamedBindings::GetOutputByName", [&] {
    RequireOut(tensor, "tensor");
    GetOutputAt(stage(), IndexOf(stage(), Side::kOutput, name), tensor);
  });
}

}  // namespace owml
