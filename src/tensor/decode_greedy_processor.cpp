// The step over the caller's own state.
// State after a step: position p + 1, and either the sequence length p + 2 or the mask entry p + 1 made visible.
#include "tensor/decode_greedy_processor.h"

#include <limits>
#include <string>

#include "com/guard.h"
#include "tensor/argmax.h"
#include "tensor/decode_processor.h"
#include "tensor/element.h"

namespace owml {
namespace {

int64_t HighestIndex(DType dtype) {
  return dtype == DType::kInt32 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
}

void RequireRoom(bool room, int64_t position, const std::string& why) {
  if (!room) throw Error(E_BOUNDS, "position " + std::to_string(position) + " cannot advance: " + why);
}

// inputs: logits [1, V]; states: next token, position, step state, observed token
void GreedyStep(std::span<const TensorView* const> inputs, std::span<const TensorView* const> states) {
  const TensorView& step_state = *states[2];
  const bool is_length = IsIndexType(step_state.dtype);
  const int64_t position = LoadIndex(*states[1], 0);
  RequireRoom(position >= 0, position, "it is below zero");
  RequireRoom(position < HighestIndex(states[1]->dtype), position, "its type ends there");
  const int64_t next = position + 1;
  if (is_length) {
    RequireRoom(next < HighestIndex(step_state.dtype), position, "the type of stepState ends there");
  } else {
    const uint64_t entries = *ElementCount(step_state.dims);
    RequireRoom(static_cast<uint64_t>(next) < entries, position,
                "the mask has " + std::to_string(entries) + " entries");
  }
  const int32_t token = static_cast<int32_t>(ArgMax(*inputs[0]));
  StoreIndex(*states[0], 0, token);
  StoreIndex(*states[1], 0, next);
  // Spec-open: the length counts the new position; a visible mask entry is 0, whose bits are 0 in both types.
  if (is_length) {
    StoreIndex(step_state, 0, next + 1);
  } else if (step_state.dtype == DType::kFloat32) {
    StoreElement(step_state, static_cast<uint64_t>(next), 0.0f);
  } else {
    StoreElement(step_state, static_cast<uint64_t>(next), uint16_t{0});
  }
  StoreElement(*states[3], 0, token);
}

void RequireStepState(const StateTensor& state) {
  const TensorType& type = state.type;
  if (IsIndexType(type.dtype)) return RequireIndexScalar(state, true);
  const uint64_t entries = *ElementCount(type.dims);
  if ((type.dtype != DType::kFloat32 && type.dtype != DType::kFloat16) || entries == 0) {
    throw Error(E_INVALIDARG, "stepState is " + ToString(type.dtype, type.dims) +
                                  ", neither an int32 or int64 element nor a float32 or float16 mask");
  }
  if (type.dtype == DType::kFloat16 && entries % 2 != 0) {
    throw Error(E_INVALIDARG, "stepState is " + ToString(type.dtype, type.dims) +
                                  ": a float16 mask needs an even number of elements");
  }
}

}  // namespace

ComPtr<IWinMLProcessor> MakeDecodeGreedyProcessor(uint32_t vocabulary_size, bool logits_are_float32,
                                                  IWinMLTensor* next_token, IWinMLTensor* position,
                                                  IWinMLTensor* step_state, IWinMLTensor* observed_token) {
  std::vector<StateTensor> states = {
      ReadStateTensor(next_token, "nextToken", AccessMode::kWrite),
      ReadStateTensor(position, "position", AccessMode::kReadWrite),
      ReadStateTensor(step_state, "stepState", AccessMode::kReadWrite),
      ReadStateTensor(observed_token, "observedToken", AccessMode::kWrite),
  };
  RequireVocabularySize(vocabulary_size);
  RequireIndexScalar(states[0], true);
  RequireIndexScalar(states[1], true);
  RequireStepState(states[2]);
  RequireIndexScalar(states[3], false);
  return MakeDecodeProcessor({{logits_are_float32 ? DType::kFloat32 : DType::kFloat16, {1, vocabulary_size}}},
                             std::move(states), GreedyStep);
}

}  // namespace owml
