// Checks of descriptors from applications.
// Nothing of the caller's memory is kept.
#include "tensor/tensor_desc.h"

#include <string>

#include "base/error.h"
#include "com/guard.h"

namespace owml {

TensorType ParseTensorDesc(const WINML_TENSOR_DESC& desc, const char* what) {
  const int32_t dtype = static_cast<int32_t>(desc.dataType);
  const uint32_t rank = desc.dimensionCount;
  const UINT64* extents = desc.dimensions;
  if (!IsKnownDType(dtype)) {
    throw Error(E_INVALIDARG, std::string(what) + ": unknown element type " + std::to_string(dtype));
  }
  if (rank > kMaxRank) {
    throw Error(E_INVALIDARG, std::string(what) + ": " + std::to_string(rank) + " dimensions, at most " +
                                  std::to_string(kMaxRank) + " are supported");
  }
  // Spec-open: dimensions is a field, not an argument, so that null is a bad value and not E_POINTER.
  if (rank > 0 && !extents) {
    throw Error(E_INVALIDARG, std::string(what) + ": dimensions is null, dimensionCount is " + std::to_string(rank));
  }
  TensorType type;
  type.dtype = static_cast<DType>(dtype);
  if (rank > 0) type.dims.assign(extents, extents + rank);
  if (!IsConcrete(type.dims)) {
    throw Error(E_INVALIDARG, std::string(what) + ": a dimension is free in " + ToString(type.dims));
  }
  if (!ByteSize(type.dtype, type.dims)) {
    throw Error(E_INVALIDARG,
                std::string(what) + ": the size of " + ToString(type.dtype, type.dims) + " does not fit 64 bits");
  }
  return type;
}

WINML_TENSOR_DESC ToTensorDesc(DType dtype, const Dims& dims) noexcept {
  WINML_TENSOR_DESC desc = {};
  desc.dataType = static_cast<WINML_TENSOR_DATA_TYPE>(dtype);
  desc.dimensionCount = static_cast<UINT32>(dims.size());
  desc.dimensions = dims.data();
  return desc;
}

}  // namespace owml
