// Greedy choice over logits.
// Used by the decode processors.
#pragma once

#include "base/tensor_view.h"

namespace owml {

// Index of the highest value of a non-empty FLOAT32 or FLOAT16 tensor; the lowest index on a tie.
// Spec-open: NaN never wins; nothing but NaN picks 0.
uint64_t ArgMax(const TensorView& logits);

}  // namespace owml
