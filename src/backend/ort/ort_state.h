// Sequence state that the session keeps between runs: declared pairs of state tensors, the position, the capacity.
// Owned by ort_session.cpp, which asks it for values before a run and tells it when the run has succeeded.
//
// A pair is kept without copies: the run reads `current` and writes `next`, then the two change places, so that a
// failed run leaves the state as it was. What a free axis of a state tensor means follows from the names of the two
// ends:
//   axis 2 of rank 4, same name or no names, capacity given   fixed buffer of `capacity` positions
//   same name                                                  extent of the bound input axis with that name; axis 0
//   else 1 other or no names                                          grows with the sequence, begins empty; axis 0 is
//   1
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/ort/ort_schema.h"
#include "backend/ort/ort_tensor.h"
#include "backend/sequence_state.h"
#include "backend/session.h"

namespace owml {

// Throws E_INVALIDARG where a pair names no input or output, one twice, or two that differ in type or shape.
void CheckStatePairs(std::span<const StatePair> pairs, const OrtPorts& inputs, const OrtPorts& outputs);

class OrtState : public SequenceState {
 public:
  // `inputs` and `outputs` must outlive the state; the pairs have passed CheckStatePairs.
  OrtState(const OrtPorts& inputs, const OrtPorts& outputs, const SessionOptions& options);

  // True for a state input and for the position input.
  bool FeedsInput(uint32_t input) const {
    return input_pairs_[input] >= 0 || static_cast<int64_t>(input) == position_input_;
  }
  bool OwnsOutput(uint32_t output) const { return output_pairs_[output] >= 0; }

  // Before a run. Throws ERROR_INSUFFICIENT_BUFFER past the capacity and E_INVALIDARG for a bound state input.
  void BeginRun(std::span<const InputValue> inputs);
  // The value of an input that FeedsInput.
  OrtValue* InputFor(uint32_t input) const;
  // Where a state output goes; null leaves it to ONNX Runtime, and TakeOutput gets the result.
  OrtValue* OutputFor(uint32_t output) const;
  void TakeOutput(uint32_t output, OrtValuePtr value);
  // After a run that succeeded.
  void EndRun() noexcept;

  void Reset();

  uint64_t capacity() const override;
  std::optional<uint64_t> declared_capacity() const override { return std::nullopt; }
  uint64_t position() const override { return position_; }
  void RewindTo(uint64_t position) override;
  void SetCapacity(uint64_t capacity) override;

 private:
  enum class AxisRule { kFixed, kCapacity, kFromInput, kGrows };

  struct Tensor {
    StatePair pair;
    DType dtype = DType::kUndefined;
    Dims declared;
    std::vector<AxisRule> rules;  // one for each axis
    OrtValuePtr current;          // null until the shape is known
    OrtValuePtr next;             // null for a tensor that grows
    bool grows() const;
  };

  Tensor MakeTensor(const StatePair& pair, uint64_t capacity) const;
  void FindPositionInput();
  void FindCapacity();
  // The shape at position 0, or nothing when it waits for a capacity or for the inputs of the first run.
  std::optional<Dims> StartShape(const Tensor& tensor, uint64_t capacity, std::span<const InputValue> inputs) const;
  static void Allocate(Tensor& tensor, const Dims& dims);
  uint64_t TokensOf(std::span<const InputValue> inputs) const;
  void Truncate(uint64_t position);

  const OrtPorts& inputs_;
  const OrtPorts& outputs_;
  std::vector<Tensor> tensors_;
  std::vector<int32_t> input_pairs_;   // for each input the index in tensors_, or -1
  std::vector<int32_t> output_pairs_;  // for each output

  int64_t position_input_ = -1;
  alignas(int64_t) std::byte position_bytes_[sizeof(int64_t)] = {};
  OrtValueSlot position_value_;
  bool addressed_ = false;  // rows beyond the position are never read, so that the position may simply move back

  uint64_t fixed_capacity_ = 0;  // smallest axis 2 of the state tensors; 0 = none is fixed
  uint64_t capacity_ = 0;        // in effect; 0 = no known limit
  uint64_t position_ = 0;
  uint64_t pending_tokens_ = 0;
};

}  // namespace owml
