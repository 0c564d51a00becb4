// The gather step.
// Token and position come from tensors and are checked against the sizes of the schema.
#include "tensor/decode_embed_processor.h"

#include <cstring>
#include <limits>
#include <string>

#include "com/guard.h"
#include "tensor/decode_processor.h"
#include "tensor/element.h"

namespace owml {
namespace {

bool IsFloatType(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

void RequireInside(const char* what, int64_t value, uint64_t size) {
  if (value < 0 || static_cast<uint64_t>(value) >= size) {
    throw Error(E_BOUNDS,
                std::string(what) + " is " + std::to_string(value) + ", not 0 to " + std::to_string(size - 1));
  }
}

// inputs: table [V, H], tokens [C], position; states: hiddenOutput, H elements
void EmbedStep(std::span<const TensorView* const> inputs, std::span<const TensorView* const> states) {
  const TensorView& table = *inputs[0];
  const TensorView& tokens = *inputs[1];
  const int64_t position = LoadIndex(*inputs[2], 0);
  RequireInside("the position", position, tokens.dims[0]);
  const int64_t token = LoadIndex(tokens, static_cast<uint64_t>(position));
  RequireInside("the token id", token, table.dims[0]);
  const uint64_t row_bytes = states[0]->bytes;
  std::memcpy(states[0]->data, table.data + static_cast<uint64_t>(token) * row_bytes, static_cast<size_t>(row_bytes));
}

}  // namespace

ComPtr<IWinMLProcessor> MakeDecodeEmbedProcessor(uint32_t vocabulary_size, uint32_t hidden_size,
                                                 uint64_t sequence_capacity, IWinMLTensor* hidden_output) {
  StateTensor hidden = ReadStateTensor(hidden_output, "hiddenOutput", AccessMode::kWrite);
  RequireVocabularySize(vocabulary_size);
  if (hidden_size == 0) throw Error(E_INVALIDARG, "hiddenSize is 0");
  if (sequence_capacity == 0 || sequence_capacity > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    throw Error(E_INVALIDARG, "sequenceCapacity is " + std::to_string(sequence_capacity) + ", not 1 to 2147483647");
  }
  // Spec-open: one row of any rank that ends in it, in a floating type that the table shares.
  const Dims& dims = hidden.type.dims;
  if (!IsFloatType(hidden.type.dtype) || dims.empty() || dims.back() != hidden_size ||
      ElementCount(dims) != uint64_t{hidden_size}) {
    throw Error(E_INVALIDARG, "hiddenOutput is " + ToString(hidden.type.dtype, dims) + ", not one row of " +
                                  std::to_string(hidden_size) + " float32, float16 or bfloat16");
  }
  TensorType table = {hidden.type.dtype, {vocabulary_size, hidden_size}};
  if (!ByteSize(table.dtype, table.dims)) {
    throw Error(E_INVALIDARG, "a table of " + ToString(table.dtype, table.dims) + " does not fit 64 bits");
  }
  return MakeDecodeProcessor({std::move(table), {DType::kInt32, {sequence_capacity}}, {DType::kInt32, {}}},
                             {std::move(hidden)}, EmbedStep);
}

}  // namespace owml
