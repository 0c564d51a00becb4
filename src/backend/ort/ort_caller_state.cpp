// One scratch tensor for each pair, made when first needed.
// A pair whose two ends differ in shape needs a bound output: the state cannot stay in place then.
#include "backend/ort/ort_caller_state.h"

#include <cstring>
#include <utility>

#include "backend/ort/ort_tensor.h"

namespace owml {

OrtCallerState::OrtCallerState(std::vector<StatePair> pairs) {
  for (const StatePair& pair : pairs) pairs_.push_back({pair, nullptr, {}});
}

OrtValue* OrtCallerState::OutputFor(uint32_t output, std::span<const InputValue> inputs) {
  for (Scratch& scratch : pairs_) {
    if (scratch.pair.output != output) continue;
    const TensorView& view = inputs[scratch.pair.input].view;
    if (!scratch.value || scratch.dims != view.dims) {
      scratch.value = MakeZeroTensor(view.dtype, view.dims);
      scratch.dims = view.dims;
    }
    return scratch.value.get();
  }
  return nullptr;
}

void OrtCallerState::Deliver(std::span<const InputValue> inputs, std::span<OutputValue> outputs) {
  for (const Scratch& scratch : pairs_) {
    OutputValue& output = outputs[scratch.pair.output];
    if (output.destination && output.wanted) continue;
    const TensorView& target = inputs[scratch.pair.input].view;
    const TensorView result = ViewOf(scratch.value.get());
    if (target.bytes) std::memcpy(target.data, result.data, static_cast<size_t>(target.bytes));
    if (output.wanted) output.produced = {target, nullptr};
  }
}

}  // namespace owml
