// State pairs whose tensors belong to the caller (IWinMLStatefulStageOptions::SetCallerOwnsStateTensors).
// Used by ort_session.cpp: where the caller binds no output, the new state replaces the old one in the bound input.
#pragma once

#include <span>
#include <vector>

#include "backend/ort/ort_handles.h"
#include "backend/session.h"

namespace owml {

class OrtCallerState {
 public:
  explicit OrtCallerState(std::vector<StatePair> pairs);

  // Before a run: the value that a state output without a destination of its own is written to; null for other outputs.
  // It cannot be the input's memory, which ONNX Runtime may still read while it writes.
  OrtValue* OutputFor(uint32_t output, std::span<const InputValue> inputs);

  // After a successful run: copies such an output into the paired input, and reports the input's tensor (without an
  // owner) where the output is wanted.
  void Deliver(std::span<const InputValue> inputs, std::span<OutputValue> outputs);

 private:
  struct Scratch {
    StatePair pair;
    OrtValuePtr value;
    Dims dims;
  };

  std::vector<Scratch> pairs_;
};

}  // namespace owml
