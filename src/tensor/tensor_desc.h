// Tensor descriptors at the edge: what comes in is checked and copied, what goes out points into our own storage.
// Used by factories, tensor access and processors.
#pragma once

#include <WinMLTensor.h>

#include "base/shape.h"

namespace owml {

// Element type and concrete extents whose byte size fits 64 bits.
struct TensorType {
  DType dtype = DType::kUndefined;
  Dims dims;

  bool operator==(const TensorType&) const = default;
};

// Throws E_INVALIDARG for an unknown element type, more than kMaxRank axes, null dimensions, a free extent, or a byte
// size beyond 64 bits. The sentence starts with `what`.
TensorType ParseTensorDesc(const WINML_TENSOR_DESC& desc, const char* what);

// `dims` must outlive the answer.
WINML_TENSOR_DESC ToTensorDesc(DType dtype, const Dims& dims) noexcept;

}  // namespace owml
