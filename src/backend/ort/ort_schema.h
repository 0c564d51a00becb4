// Names, types and shapes of a prepared ONNX session, and the check of a tensor against them.
// Used by ort_model.cpp (files in ORT's own format) and ort_session.cpp.
#pragma once

#include <onnxruntime_c_api.h>

#include <string>
#include <vector>

#include "backend/schema.h"
#include "base/tensor_view.h"

namespace owml {

// One direction of a session. `has_shape[i]` is false where the model leaves even the rank open; dims are empty then.
struct OrtPorts {
  std::vector<TensorSpec> specs;
  std::vector<bool> has_shape;
};

// Required inputs only: initializers with a default are no inputs. Throws ERROR_NOT_SUPPORTED, naming the input or
// output, where it is no dense tensor of a type that the API can carry.
OrtPorts ReadInputs(const OrtSession* session, const std::string& model_label);
OrtPorts ReadOutputs(const OrtSession* session, const std::string& model_label);

// "input 0 'x'".
std::string PortName(const char* direction, size_t index, const std::string& name);

// Throws E_INVALIDARG: "input 0 'x' expects float32 [?, 4], got int8 [2, 4]". Also checks that the view's size and
// pointer hold.
void CheckTensor(const char* direction, size_t index, const OrtPorts& ports, const TensorView& view);

}  // namespace owml
