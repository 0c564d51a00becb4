// The step over the token ring.
// State after a step: ring[p + 1] = token, position p + 1, sequence length p + 2.
#include "tensor/decode_sample_processor.h"

#include <limits>
#include <string>

#include "com/guard.h"
#include "tensor/argmax.h"
#include "tensor/decode_processor.h"
#include "tensor/element.h"

namespace owml {
namespace {

// inputs: logits [1, V]; states: ring of C elements, position, sequence length, observed token
void SampleStep(std::span<const TensorView* const> inputs, std::span<const TensorView* const> states) {
  const TensorView& ring = *states[0];
  const int64_t capacity = static_cast<int64_t>(*ElementCount(ring.dims));
  const int64_t position = LoadIndex(*states[1], 0);
  // Spec-open: a position below zero has no next slot either.
  if (position < 0 || position >= capacity - 1) {
    throw Error(E_BOUNDS, "the token ring of " + std::to_string(capacity) + " has no slot after position " +
                              std::to_string(position));
  }
  const int32_t token = static_cast<int32_t>(ArgMax(*inputs[0]));
  StoreElement(ring, static_cast<uint64_t>(position + 1), token);
  StoreIndex(*states[1], 0, position + 1);
  StoreIndex(*states[2], 0, position + 2);  // Spec-open: the length counts the new position
  StoreElement(*states[3], 0, token);
}

}  // namespace

ComPtr<IWinMLProcessor> MakeDecodeSampleProcessor(uint32_t vocabulary_size, bool logits_are_float32,
                                                  IWinMLTensor* token_ring, IWinMLTensor* position,
                                                  IWinMLTensor* sequence_length, IWinMLTensor* observed_token) {
  std::vector<StateTensor> states = {
      ReadStateTensor(token_ring, "tokenRing", AccessMode::kReadWrite),
      ReadStateTensor(position, "position", AccessMode::kReadWrite),
      ReadStateTensor(sequence_length, "sequenceLength", AccessMode::kWrite),
      ReadStateTensor(observed_token, "observedToken", AccessMode::kWrite),
  };
  RequireVocabularySize(vocabulary_size);
  const TensorType& ring = states[0].type;
  const uint64_t capacity = *ElementCount(ring.dims);
  if (ring.dtype != DType::kInt32 || capacity == 0 ||
      capacity > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    throw Error(E_INVALIDARG,
                "tokenRing is " + ToString(ring.dtype, ring.dims) + ", not 1 to 2147483647 int32 elements");
  }
  // Spec-open: position and length may be INT32 or INT64, as those of the greedy processor.
  RequireIndexScalar(states[1], true);
  RequireIndexScalar(states[2], true);
  RequireIndexScalar(states[3], false);
  return MakeDecodeProcessor({{logits_are_float32 ? DType::kFloat32 : DType::kFloat16, {1, vocabulary_size}}},
                             std::move(states), SampleStep);
}

}  // namespace owml
