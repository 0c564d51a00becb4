// Our shapes as the ABI's descriptors, without a copy, and the check of a tensor against a declared slot.
// Used by the schema skins, by binding and by the processor call wrapper.
#pragma once

#include <WinMLRuntime.h>

#include <string>

#include "backend/schema.h"
#include "base/error.h"

namespace owml {

// `Desc` is WINML_TENSOR_DESC or WINML_TENSOR_SCHEMA_DESC. Points into `dims`, which must outlive it.
template <class Desc>
Desc DescOf(DType dtype, const Dims& dims) {
  Desc desc{};
  desc.dataType = static_cast<WINML_TENSOR_DATA_TYPE>(dtype);
  desc.dimensionCount = static_cast<UINT32>(dims.size());
  desc.dimensions = dims.empty() ? nullptr : dims.data();
  return desc;
}

// Throws E_INVALIDARG when a tensor of this type and shape can never be the slot's value; `what` starts the sentence.
inline void RequireMatch(const TensorSpec& slot, DType dtype, const Dims& dims, const std::string& what) {
  if (slot.dtype == dtype && Matches(slot.dims, dims)) return;
  throw Error(E_INVALIDARG,
              what + " takes " + ToString(slot.dtype, slot.dims) + ", the tensor is " + ToString(dtype, dims));
}

}  // namespace owml
