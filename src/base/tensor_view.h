// A dense tensor in somebody else's memory, and one together with its owner.
// The common currency between runtime, backends and tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/dtype.h"
#include "base/shape.h"

namespace owml {

// Borrowed bytes in row-major order. `bytes` always equals ByteSize(dtype, dims). `data` may be null only when `bytes`
// is 0.
struct TensorView {
  DType dtype = DType::kUndefined;
  Dims dims;
  std::byte* data = nullptr;
  uint64_t bytes = 0;
};

// A view plus whatever keeps its memory alive.
struct TensorBuffer {
  TensorView view;
  std::shared_ptr<void> owner;
};

}  // namespace owml
