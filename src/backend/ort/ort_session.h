// A prepared ONNX session: binds the caller's memory without copies and runs.
// Made by ort_model.cpp; driven by the runtime.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/model.h"
#include "backend/ort/ort_caller_state.h"
#include "backend/ort/ort_handles.h"
#include "backend/ort/ort_schema.h"
#include "backend/ort/ort_state.h"
#include "backend/ort/ort_tensor.h"
#include "backend/session.h"

namespace owml {

class OrtBackendSession : public BackendSession {
 public:
  // `model` owns what the session reads from: the buffer and the resource map. `shared` are initializers that lie in
  // the latter.
  OrtBackendSession(std::shared_ptr<const BackendModel> model, std::vector<OrtValueSlot> shared, OrtSessionPtr session,
                    SessionReport report, OrtPorts inputs, OrtPorts outputs, const SessionOptions& options);

  const Schema& schema() const override { return schema_; }
  SessionReport report() const override { return report_; }
  void Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) override;
  void Reset() override;
  bool FeedsInput(uint32_t input) const override { return state_ && state_->FeedsInput(input); }
  SequenceState* sequence_state() override { return state_.get(); }

 private:
  void KeepState(const SessionOptions& options);
  void FindPassThroughs();

  void GatherInputs(std::span<const InputValue> inputs);
  void GatherOutputs(std::span<const InputValue> inputs, std::span<OutputValue> outputs);
  void Select(uint32_t output, OrtValue* destination);
  void Execute();
  void Deliver(std::span<const InputValue> inputs, std::span<OutputValue> outputs);
  void PassThrough(uint32_t output, std::span<const InputValue> inputs, OutputValue& target);

  std::shared_ptr<const BackendModel> model_;
  std::vector<OrtValueSlot> shared_initializers_;
  SessionReport report_;
  OrtPorts inputs_;
  OrtPorts outputs_;
  Schema schema_;
  std::unique_ptr<OrtState> state_;               // null without pairs that the runtime keeps
  std::unique_ptr<OrtCallerState> caller_state_;  // null without pairs that the caller owns
  OrtSessionPtr session_;

  // ONNX Runtime leaves a bound output unwritten when the graph hands an input straight on; these outputs are copied
  // here. For each output the index of that input, or -1.
  std::vector<int32_t> pass_through_;

  // Reused from run to run.
  std::vector<OrtValueSlot> input_slots_;
  std::vector<OrtValueSlot> output_slots_;
  std::vector<const char*> input_names_;
  std::vector<OrtValue*> input_values_;
  std::vector<uint32_t> selected_;           // outputs asked of ONNX Runtime in this run
  std::vector<const char*> selected_names_;  // for each of them
  std::vector<OrtValue*> selected_values_;   // for each: where it goes, or null; after the run the result
  std::vector<bool> left_open_;              // for each: no place was given
  std::vector<OrtValuePtr> results_;         // for each: the result when no place was given
};

}  // namespace owml
