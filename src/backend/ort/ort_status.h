// Failures of ONNX Runtime as our Error.
// Used around every call of its API in this folder.
#pragma once

#include <onnxruntime_c_api.h>
#include <unknwn.h>

#include <string>
#include <string_view>

namespace owml {

// The result for an ONNX Runtime failure:
//   INVALID_ARGUMENT                      E_INVALIDARG
//   NO_SUCHFILE                           ERROR_FILE_NOT_FOUND
//   NO_MODEL, INVALID_PROTOBUF, INVALID_GRAPH   ERROR_INVALID_DATA
//   NOT_IMPLEMENTED, MODEL_REQUIRES_COMPILATION ERROR_NOT_SUPPORTED
//   MODEL_LOADED                          E_NOT_VALID_STATE
//   MODEL_LOAD_CANCELED                   ERROR_CANCELLED
//   NOT_FOUND                             ERROR_NOT_FOUND
//   everything else                       E_FAIL; E_OUTOFMEMORY or E_INVALIDARG where only the message tells that
//   memory
//                                         ran out or that a bound output has another shape than the result
HRESULT HresultOf(OrtErrorCode code, std::string_view message);

// Releases `status`; throws "<doing>: <message of ONNX Runtime>".
[[noreturn]] void ThrowStatus(OrtStatus* status, const std::string& doing);

// `doing` becomes the start of the sentence and is touched on failure only.
inline void Check(OrtStatus* status, const char* doing) {
  if (status) ThrowStatus(status, doing);
}

}  // namespace owml
