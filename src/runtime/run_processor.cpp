// IWinMLProcessor from the caller's side.
// See run_processor.h.
#include "runtime/run_processor.h"

#include <algorithm>

#include "com/guard.h"
#include "runtime/schema_desc.h"
#include "tensor/tensor_desc.h"

namespace owml {
namespace {

// A bound for processors that answer nonsense; no stage has more inputs or outputs.
constexpr UINT32 kMaxSlots = 4096;

std::string SlotLabel(const std::string& stage, const char* side, size_t index) {
  return std::string(side) + " " + std::to_string(index) + " of " + stage;
}

TensorSpec CaptureSpec(const WINML_TENSOR_DESC& desc, const std::string& what) {
  Require(IsKnownDType(desc.dataType), E_INVALIDARG,
          what + ": element type " + std::to_string(desc.dataType) + " is unknown");
  Require(desc.dimensionCount <= kMaxRank, E_INVALIDARG,
          what + ": " + std::to_string(desc.dimensionCount) + " axes are more than " + std::to_string(kMaxRank));
  Require(desc.dimensionCount == 0 || desc.dimensions != nullptr, E_INVALIDARG, what + ": dimensions is null");
  TensorSpec spec;
  spec.dtype = static_cast<DType>(desc.dataType);
  spec.dims.assign(desc.dimensions, desc.dimensions + desc.dimensionCount);
  spec.dim_names.resize(spec.dims.size());
  Require(IsConcrete(spec.dims), E_INVALIDARG,
          what + ": a processor's extents are concrete, this is " + ToString(spec.dims));
  Require(ByteSize(spec.dtype, spec.dims).has_value(), E_INVALIDARG,
          what + ": " + ToString(spec.dims) + " does not fit memory");
  return spec;
}

// Takes no memory where the tensor fits, which it does in every honest run.
void RequireFit(const TensorSpec& slot, IWinMLTensor* tensor, const std::string& what) {
  WINML_TENSOR_DESC desc{};
  ClearThreadError();
  CheckResult(tensor->GetDesc(&desc), what.c_str(), "IWinMLTensor::GetDesc");
  const size_t rank = slot.dims.size();
  if (static_cast<DType>(desc.dataType) == slot.dtype && desc.dimensionCount == rank &&
      (rank == 0 || desc.dimensions) && std::equal(slot.dims.begin(), slot.dims.end(), desc.dimensions)) {
    return;
  }
  const TensorType type = ParseTensorDesc(desc, what.c_str());
  RequireMatch(slot, type.dtype, type.dims, what);
}

// Owns the slots that the processor fills, whatever way the call ends.
class OutputSlots {
 public:
  OutputSlots(const StageNode& node, StagePlan& plan) : node_(node), plan_(plan) {
    for (size_t o = 0; o < plan.output_tensors.size(); ++o) plan.output_tensors[o] = node.outputs[o].bound.Get();
  }
  // A reference that was written into a slot belongs to the caller, also after a failure and also where it replaced a
  // bound tensor.
  ~OutputSlots() {
    for (size_t o = 0; o < plan_.output_tensors.size(); ++o) {
      IWinMLTensor* left = plan_.output_tensors[o];
      plan_.output_tensors[o] = nullptr;
      if (left && left != node_.outputs[o].bound.Get()) left->Release();
    }
  }
  OutputSlots(const OutputSlots&) = delete;
  OutputSlots& operator=(const OutputSlots&) = delete;

  void Take(size_t output, ComPtr<IWinMLTensor>& result) {
    IWinMLTensor* made = plan_.output_tensors[output];
    if (made == node_.outputs[output].bound.Get()) {
      result = made;
    } else {
      result.Attach(made);
      plan_.output_tensors[output] = nullptr;
    }
  }

 private:
  const StageNode& node_;
  StagePlan& plan_;
};

}  // namespace

Schema CaptureProcessorSchema(IWinMLProcessor* processor, const std::string& label) {
  Schema schema;
  UINT32 inputs = 0;
  UINT32 outputs = 0;
  ClearThreadError();
  CheckResult(processor->GetInputCount(&inputs), label + ": GetInputCount");
  ClearThreadError();
  CheckResult(processor->GetOutputCount(&outputs), label + ": GetOutputCount");
  Require(inputs <= kMaxSlots && outputs <= kMaxSlots, E_INVALIDARG,
          label + ": a processor with " + std::to_string(inputs) + " inputs and " + std::to_string(outputs) +
              " outputs; at most " + std::to_string(kMaxSlots) + " each are accepted");
  for (UINT32 i = 0; i < inputs; ++i) {
    WINML_TENSOR_DESC desc{};
    ClearThreadError();
    CheckResult(processor->GetInputTensorDesc(i, &desc), label + ": GetInputTensorDesc(" + std::to_string(i) + ")");
    schema.inputs.push_back(CaptureSpec(desc, SlotLabel(label, "input", i)));
  }
  for (UINT32 o = 0; o < outputs; ++o) {
    WINML_TENSOR_DESC desc{};
    ClearThreadError();
    CheckResult(processor->GetOutputTensorDesc(o, &desc), label + ": GetOutputTensorDesc(" + std::to_string(o) + ")");
    schema.outputs.push_back(CaptureSpec(desc, SlotLabel(label, "output", o)));
  }
  return schema;
}

void CallProcessor(const StageNode& node, StagePlan& plan) {
  const Schema& schema = *node.processor_schema;
  for (size_t i = 0; i < schema.inputs.size(); ++i) {
    RequireFit(schema.inputs[i], plan.input_tensors[i], plan.input_labels[i]);
  }
  for (size_t o = 0; o < schema.outputs.size(); ++o) {
    IWinMLTensor* bound = node.outputs[o].bound.Get();
    if (bound) RequireFit(schema.outputs[o], bound, plan.output_labels[o]);
  }

  OutputSlots slots(node, plan);
  ClearThreadError();
  const HRESULT result =
      node.processor->Execute(static_cast<UINT32>(plan.input_tensors.size()), plan.input_tensors.data(),
                              static_cast<UINT32>(plan.output_tensors.size()), plan.output_tensors.data());
  CheckResult(result, node.label.c_str(), "Execute");
  for (size_t o = 0; o < schema.outputs.size(); ++o) {
    const std::string& what = plan.output_labels[o];
    IWinMLTensor* bound = node.outputs[o].bound.Get();
    IWinMLTensor* made = plan.output_tensors[o];
    if (!made) throw Error(E_UNEXPECTED, what + ": the processor succeeded without a tensor");
    if (bound && made != bound) throw Error(E_UNEXPECTED, what + ": the processor replaced the bound tensor");
    slots.Take(o, plan.results[o].tensor);
    try {
      RequireFit(schema.outputs[o], made, what);
    } catch (const Error& error) {
      throw Error(E_UNEXPECTED, error.what());
    }
  }
}

}  // namespace owml
