// ONNX Runtime's log, led into ours.
// Called by ort_library.cpp for the environment and by ort_session_options.cpp for each session.
#pragma once

#include <onnxruntime_c_api.h>

namespace owml {

// An OrtLoggingFunction.
void ORT_API_CALL WriteOrtLog(void* parameter, OrtLoggingLevel severity, const char* category, const char* log_id,
                              const char* code_location, const char* message);

// The least severity that our log would show now.
OrtLoggingLevel OrtSeverityForLog();

}  // namespace owml
