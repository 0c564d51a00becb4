// The processor object that the three decode processors share: fixed schema, state in the caller's tensors, one step a
// call. Each of them supplies its step as a plain function over views.
#pragma once

#include <WinMLRuntime.h>

#include <functional>
#include <span>
#include <vector>

#include "com/com_ptr.h"
#include "tensor/tensor_access.h"
#include "tensor/tensor_desc.h"

namespace owml {

// A tensor of the caller's that a processor works on in every step; its type is settled when the processor is made.
struct StateTensor {
  const char* name;  // the factory's parameter
  ComPtr<IWinMLTensor> tensor;
  TensorType type;
  AccessMode mode;
};

// Throws E_POINTER for null, or what reading the descriptor answers.
StateTensor ReadStateTensor(IWinMLTensor* tensor, const char* name, AccessMode mode);

// Checks all values before the first write and throws what Execute answers. Views have the types of the schema.
using DecodeStep =
    std::function<void(std::span<const TensorView* const> inputs, std::span<const TensorView* const> states)>;

// Spec-open: the outputs are the states in their order. An output left null becomes the state tensor itself; one that
// is given and is another tensor receives a copy. Throws E_INVALIDARG when two states are the same object.
ComPtr<IWinMLProcessor> MakeDecodeProcessor(std::vector<TensorType> inputs, std::vector<StateTensor> states,
                                            DecodeStep step);

// `vocabulary_size` as the number of signed 32-bit token ids; throws E_INVALIDARG for 0 and beyond INT32_MAX.
void RequireVocabularySize(uint32_t vocabulary_size);

// Throws E_INVALIDARG unless the state is one element of INT32, or INT64 where `allow_int64`.
void RequireIndexScalar(const StateTensor& state, bool allow_int64);

}  // namespace owml
