// Single elements at any alignment: a tensor may be a view of bytes anywhere in the caller's buffer.
// Used by the token factory and the decode processors.
#pragma once

#include <cstring>

#include "base/tensor_view.h"

namespace owml {

template <class T>
T LoadElement(const TensorView& view, uint64_t index) noexcept {
  T value;
  std::memcpy(&value, view.data + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void StoreElement(const TensorView& view, uint64_t index, T value) noexcept {
  std::memcpy(view.data + index * sizeof(T), &value, sizeof(T));
}

constexpr bool IsIndexType(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

// `view` is of an index type.
inline int64_t LoadIndex(const TensorView& view, uint64_t index) noexcept {
  return view.dtype == DType::kInt32 ? LoadElement<int32_t>(view, index) : LoadElement<int64_t>(view, index);
}

// `value` fits the type.
inline void StoreIndex(const TensorView& view, uint64_t index, int64_t value) noexcept {
  if (view.dtype == DType::kInt32) {
    StoreElement(view, index, static_cast<int32_t>(value));
  } else {
    StoreElement(view, index, value);
  }
}

}  // namespace owml
