// Element types of ONNX and ours.
// Used where tensors and schemas cross to ONNX Runtime.
#pragma once

#include <onnxruntime_c_api.h>

#include <optional>
#include <string>

#include "base/dtype.h"

namespace owml {

// Nothing for a type that the public API cannot carry (string, complex, float8, float4, int2).
std::optional<DType> DTypeOfOnnx(ONNXTensorElementDataType type);

ONNXTensorElementDataType OnnxTypeOf(DType dtype);

// Name of the ONNX type for a message: "string", "float8e4m3fn", "type 99".
std::string OnnxTypeName(int32_t type);

}  // namespace owml
