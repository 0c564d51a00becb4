// The running half of a model: prepared for a device, mutable, owned by one stage of one pipeline.
// Made by BackendModel::CreateSession at Build; driven by the runtime, never by two threads at once.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "backend/best_tokens.h"
#include "backend/cancellation.h"
#include "backend/profiled_runs.h"
#include "backend/schema.h"
#include "backend/sequence_state.h"
#include "backend/session_options.h"
#include "base/tensor_view.h"

namespace owml {

// One input of a run. `bound` is false where the caller gave no tensor; a session may feed such an input itself (state,
// position) and throws E_INVALIDARG, naming the input, where it does not. The session checks type and shape.
struct InputValue {
  bool bound = false;
  TensorView view;
};

// One output of a run. Exactly one of: not wanted (the session may skip it); wanted with a destination, whose type and
// shape the session checks and into which the result goes; wanted without one: the session leaves its result in
// `produced`.
struct OutputValue {
  bool wanted = false;
  std::optional<TensorView> destination;
  TensorBuffer produced;
};

class BackendSession {
 public:
  virtual ~BackendSession() = default;

  // Concrete where the backend can tell, free elsewhere. Stays valid and unchanged for the session's life.
  virtual const Schema& schema() const = 0;
  virtual SessionReport report() const = 0;

  // `inputs` and `outputs` have the schema's sizes. Either all wanted outputs are there afterwards, or it throws and
  // the sequence state is as before.
  virtual void Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) = 0;

  // Forgets retained state: position 0. Nothing to do for a stateless session.
  virtual void Reset() {}

  // True when an unbound input is fed by the session itself.
  virtual bool FeedsInput(uint32_t) const { return false; }

  // Optional abilities; owned by the session.
  virtual SequenceState* sequence_state() { return nullptr; }
  virtual SpeculativeSteps* speculative_steps() { return nullptr; }
  virtual BestTokens* best_tokens() { return nullptr; }
  virtual CancellableRuns* cancellable_runs() { return nullptr; }
  virtual ProfiledRuns* profiled_runs() { return nullptr; }
};

}  // namespace owml
