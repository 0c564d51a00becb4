// The type table.
// ONNX Runtime numbers the types as ONNX's TensorProto.DataType does up to 23, float4e2m1.
#include "backend/ort/ort_types.h"

#include <array>

namespace owml {
namespace {

constexpr struct {
  ONNXTensorElementDataType onnx;
  DType dtype;
} kPairs[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, DType::kFloat32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, DType::kFloat16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, DType::kBFloat16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, DType::kInt8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, DType::kUInt8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, DType::kInt16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, DType::kUInt16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, DType::kInt32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, DType::kUInt32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, DType::kInt64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, DType::kUInt64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, DType::kFloat64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, DType::kBool},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, DType::kInt4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, DType::kUInt4},
};

constexpr std::array<const char*, 26> kNames = {
    "undefined", "float32",      "uint8",          "int8",       "uint16",         "int16",  "int32",     "int64",
    "string",    "bool",         "float16",        "float64",    "uint32",         "uint64", "complex64", "complex128",
    "bfloat16",  "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",  "int4",      "float4e2m1",
    "uint2",     "int2"};

}  // namespace

std::optional<DType> DTypeOfOnnx(ONNXTensorElementDataType type) {
  for (const auto& pair : kPairs) {
    if (pair.onnx == type) return pair.dtype;
  }
  return std::nullopt;
}

ONNXTensorElementDataType OnnxTypeOf(DType dtype) {
  for (const auto& pair : kPairs) {
    if (pair.dtype == dtype) return pair.onnx;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

std::string OnnxTypeName(int32_t type) {
  if (type >= 0 && static_cast<size_t>(type) < kNames.size()) return kNames[static_cast<size_t>(type)];
  return "type " + std::to_string(type);
}

}  // namespace owml
