// The one input and the one output of a GGUF language model: token ids in, logits of the last position out.
// Part of the sessions of the GGUF engines, which so agree on types, shapes and refusals.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/session.h"

namespace owml {

// A step over several positions: throws E_INVALIDARG for more tokens than `width`, ERROR_INSUFFICIENT_BUFFER where rows
// of `row_stride` logits do not fit.
void RequireStepFits(std::span<const int32_t> tokens, std::span<const float> logits, uint32_t width,
                     uint64_t row_stride);

class TokenPorts {
 public:
  explicit TokenPorts(uint64_t vocabulary_size);

  const Schema& schema() const { return schema_; }

  // One run: checks both ports, calls append(tokens, logits) and hands out the result. `logits` is null when nobody
  // asked for them, else room for one row. What append throws leaves `outputs` as they were.
  template <class Append>
  void Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs, Append&& append) {
    const std::span<const int32_t> tokens = TokensOf(inputs);
    OutputValue& output = outputs[0];
    TensorBuffer made;
    float* const logits = LogitsOf(output, &made);
    append(tokens, logits);
    if (output.wanted && !output.destination) output.produced = std::move(made);
  }

  // The tokens of a run, checked.
  std::span<const int32_t> TokensOf(std::span<const InputValue> inputs) const;

 private:
  // The caller's memory, or `made` when the row is left to the session; null when the output is not wanted.
  float* LogitsOf(const OutputValue& output, TensorBuffer* made);

  Schema schema_;
  // Reused by the next run unless somebody still holds the last result.
  std::shared_ptr<std::vector<float>> row_;
};

}  // namespace owml
