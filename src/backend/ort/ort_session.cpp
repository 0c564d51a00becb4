// One run: check and gather, one call of ONNX Runtime, deliver.
// Nothing is allocated here while pointers and shapes stay as they were, except what ONNX Runtime makes for outputs
// left to it.
#include "backend/ort/ort_session.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace owml {

OrtBackendSession::OrtBackendSession(std::shared_ptr<const BackendModel> model, std::vector<OrtValueSlot> shared,
                                     OrtSessionPtr session, SessionReport report, OrtPorts inputs, OrtPorts outputs,
                                     const SessionOptions& options)
    : model_(std::move(model)),
      shared_initializers_(std::move(shared)),
      report_(std::move(report)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      schema_{inputs_.specs, outputs_.specs},
      session_(std::move(session)),
      input_slots_(inputs_.specs.size()),
      output_slots_(outputs_.specs.size()) {
  for (const TensorSpec& spec : inputs_.specs) input_names_.push_back(spec.name.c_str());
  input_values_.resize(inputs_.specs.size());
  selected_.reserve(outputs_.specs.size());
  selected_names_.reserve(outputs_.specs.size());
  selected_values_.reserve(outputs_.specs.size());
  left_open_.reserve(outputs_.specs.size());
  results_.reserve(outputs_.specs.size());
  FindPassThroughs();
  KeepState(options);
}

void OrtBackendSession::FindPassThroughs() {
  pass_through_.assign(outputs_.specs.size(), -1);
  for (size_t o = 0; o < outputs_.specs.size(); ++o) {
    for (size_t i = 0; i < inputs_.specs.size(); ++i) {
      if (outputs_.specs[o].name == inputs_.specs[i].name) pass_through_[o] = static_cast<int32_t>(i);
    }
  }
}

void OrtBackendSession::KeepState(const SessionOptions& options) {
  if (options.state_pairs.empty()) return;
  CheckStatePairs(options.state_pairs, inputs_, outputs_);
  if (options.caller_owns_state) {
    caller_state_ = std::make_unique<OrtCallerState>(options.state_pairs);
    return;
  }
  for (const StatePair& pair : options.state_pairs) {
    if (pair.output < options.published_outputs.size() && options.published_outputs[pair.output]) {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                  PortName("output", pair.output, outputs_.specs[pair.output].name) +
                      " is state that the runtime keeps; it can be read only with caller-owned state");
    }
  }
  state_ = std::make_unique<OrtState>(inputs_, outputs_, options);
}

void OrtBackendSession::Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) {
  if (inputs.size() != inputs_.specs.size() || outputs.size() != outputs_.specs.size()) {
    throw Error(E_INVALIDARG, "a run needs a value for each input and output of the model");
  }
  if (state_) state_->BeginRun(inputs);
  GatherInputs(inputs);
  GatherOutputs(inputs, outputs);
  Execute();
  Deliver(inputs, outputs);
  if (state_) state_->EndRun();
}

void OrtBackendSession::GatherInputs(std::span<const InputValue> inputs) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].bound) {
      if (!input_slots_[i].Holds(inputs[i].view)) {
        CheckTensor("input", i, inputs_, inputs[i].view);
        input_slots_[i].Point(inputs[i].view);
      }
      input_values_[i] = input_slots_[i].get();
    } else if (FeedsInput(i)) {
      input_values_[i] = state_->InputFor(i);
    } else {
      throw Error(E_INVALIDARG, PortName("input", i, inputs_.specs[i].name) + " has no tensor");
    }
  }
}

void OrtBackendSession::GatherOutputs(std::span<const InputValue> inputs, std::span<OutputValue> outputs) {
  selected_.clear();
  selected_names_.clear();
  selected_values_.clear();
  left_open_.clear();
  for (uint32_t o = 0; o < outputs.size(); ++o) {
    OutputValue& output = outputs[o];
    if (state_ && state_->OwnsOutput(o)) {
      if (output.wanted) {
        throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                    PortName("output", o, outputs_.specs[o].name) +
                        " is state that the runtime keeps; it can be read only with caller-owned state");
      }
      if (pass_through_[o] < 0) Select(o, state_->OutputFor(o));
      continue;
    }
    if (output.wanted && output.destination) {
      if (!output_slots_[o].Holds(*output.destination)) {
        CheckTensor("output", o, outputs_, *output.destination);
        output_slots_[o].Point(*output.destination);
      }
      if (pass_through_[o] < 0) Select(o, output_slots_[o].get());
      continue;
    }
    OrtValue* scratch = caller_state_ ? caller_state_->OutputFor(o, inputs) : nullptr;
    if ((output.wanted || scratch) && pass_through_[o] < 0) Select(o, scratch);
  }
}

void OrtBackendSession::Select(uint32_t output, OrtValue* destination) {
  selected_.push_back(output);
  selected_names_.push_back(outputs_.specs[output].name.c_str());
  selected_values_.push_back(destination);
  left_open_.push_back(destination == nullptr);
}

void OrtBackendSession::Execute() {
  results_.clear();
  if (selected_.empty()) return;
  results_.resize(selected_.size());
  Check(Ort().Run(session_.get(), nullptr, input_names_.data(), input_values_.data(), input_values_.size(),
                  selected_names_.data(), selected_names_.size(), selected_values_.data()),
        "running the model failed");
  for (size_t k = 0; k < selected_.size(); ++k) {
    if (left_open_[k]) results_[k].reset(selected_values_[k]);
  }
}

void OrtBackendSession::Deliver(std::span<const InputValue> inputs, std::span<OutputValue> outputs) {
  for (size_t k = 0; k < selected_.size(); ++k) {
    if (!results_[k]) continue;
    const uint32_t output = selected_[k];
    if (state_ && state_->OwnsOutput(output)) {
      state_->TakeOutput(output, std::move(results_[k]));
    } else {
      outputs[output].produced = Share(std::move(results_[k]));
    }
  }
  for (uint32_t o = 0; o < outputs.size(); ++o) {
    if (pass_through_[o] >= 0) PassThrough(o, inputs, outputs[o]);
  }
  if (caller_state_) caller_state_->Deliver(inputs, outputs);
}

void OrtBackendSession::PassThrough(uint32_t output, std::span<const InputValue> inputs, OutputValue& target) {
  const TensorView source = ViewOf(input_values_[static_cast<size_t>(pass_through_[output])]);
  OrtValuePtr made;
  OrtValue* place = nullptr;
  const bool kept = state_ && state_->OwnsOutput(output);
  if (kept) {
    place = state_->OutputFor(output);
  } else if (target.wanted && target.destination) {
    place = output_slots_[output].get();
  } else if (caller_state_) {
    place = caller_state_->OutputFor(output, inputs);
  }
  if (!place && !kept && !target.wanted) return;
  if (!place) {
    made = MakeZeroTensor(source.dtype, source.dims);
    place = made.get();
  }
  const TensorView view = ViewOf(place);
  if (view.dims != source.dims) {
    throw Error(E_INVALIDARG, PortName("output", output, outputs_.specs[output].name) + " is " +
                                  ToString(source.dtype, source.dims) + ", but its tensor is " +
                                  ToString(view.dtype, view.dims));
  }
  if (source.bytes) std::memcpy(view.data, source.data, static_cast<size_t>(source.bytes));
  if (!made) return;
  if (kept) {
    state_->TakeOutput(output, std::move(made));
  } else {
    target.produced = Share(std::move(made));
  }
}

void OrtBackendSession::Reset() {
  if (state_) state_->Reset();
}

}  // namespace owml
