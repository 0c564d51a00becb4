// The schema that an ONNX file declares, from its header alone.
// Called by ort_model.cpp when a model is loaded.
#pragma once

#include <string>

#include "backend/schema.h"
#include "formats/onnx_header.h"

namespace owml {

// Inputs with a default (an initializer of the same name) are left out, as ONNX Runtime does. Throws ERROR_INVALID_DATA
// for an input without type information, ERROR_NOT_SUPPORTED for an input or output that is no dense tensor of a type
// the API carries; the sentence names it. An output without type information is left undefined: ONNX Runtime infers it
// at Build.
Schema DeclaredSchema(const OnnxHeader& header, const std::string& model_label);

}  // namespace owml
