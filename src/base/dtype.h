// Element types of tensors and their sizes.
// Used by every floor; the numbers equal WINML_TENSOR_DATA_TYPE so that the skins convert by a cast.
#pragma once

#include <cstdint>
#include <string_view>

namespace owml {

enum class DType : int32_t {
  kUndefined = 0,
  kFloat32 = 1,
  kFloat16 = 2,
  kBFloat16 = 3,
  kInt8 = 4,
  kUInt8 = 5,
  kInt16 = 6,
  kUInt16 = 7,
  kInt32 = 8,
  kUInt32 = 9,
  kInt64 = 10,
  kUInt64 = 11,
  kFloat64 = 12,
  kBool = 13,
  kInt4 = 14,
  kUInt4 = 15,
};

// True for the sixteen values above; a number from outside must pass this before it becomes a DType.
constexpr bool IsKnownDType(int32_t value) { return value >= 0 && value <= 15; }

// Bits of one element; 8 for kUndefined, which stands for raw bytes.
int BitsPerElement(DType dtype);

// Whole bytes of one element; 0 for the packed types kInt4 and kUInt4.
int BytesPerElement(DType dtype);

// Lower-case name as the field writes it: "float32", "uint4", ...
std::string_view Name(DType dtype);

}  // namespace owml
