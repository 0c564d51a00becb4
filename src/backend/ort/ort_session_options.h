// From what a stage asks for to ONNX Runtime's session options, and the report of what is in effect.
// Called by ort_model.cpp before a session is made.
#pragma once

#include "backend/backend.h"
#include "backend/ort/ort_handles.h"
#include "backend/session_options.h"

namespace owml {

struct OrtSessionSetup {
  OrtSessionOptionsPtr options;
  SessionReport report;
};

// Throws ERROR_NOT_SUPPORTED for an option that ONNX stages lack, E_INVALIDARG for a value that makes no sense,
// ERROR_NOT_FOUND for a provider or device that is not there.
OrtSessionSetup MakeSessionSetup(const SessionOptions& options, ModelFormat format);

}  // namespace owml
