// The table of ort_status.h.
#include "backend/ort/ort_status.h"

#include "backend/ort/ort_library.h"
#include "base/error.h"

namespace owml {

HRESULT HresultOf(OrtErrorCode code, std::string_view message) {
  const auto says = [message](std::string_view part) { return message.find(part) != std::string_view::npos; };
  switch (code) {
    case ORT_INVALID_ARGUMENT:
      return E_INVALIDARG;
    case ORT_NO_SUCHFILE:
      return HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
    case ORT_NO_MODEL:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
      return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    case ORT_NOT_IMPLEMENTED:
    case ORT_MODEL_REQUIRES_COMPILATION:
      return HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
    case ORT_MODEL_LOADED:
      return E_NOT_VALID_STATE;
    case ORT_MODEL_LOAD_CANCELED:
      return HRESULT_FROM_WIN32(ERROR_CANCELLED);
    case ORT_NOT_FOUND:
      return HRESULT_FROM_WIN32(ERROR_NOT_FOUND);
    default:
      if (says("Failed to allocate memory") || says("bad_alloc") || says("out of memory")) return E_OUTOFMEMORY;
      if (says("shape verification failed")) return E_INVALIDARG;
      return E_FAIL;
  }
}

void ThrowStatus(OrtStatus* status, const std::string& doing) {
  const OrtErrorCode code = Ort().GetErrorCode(status);
  const std::string message = Ort().GetErrorMessage(status);
  Ort().ReleaseStatus(status);
  throw Error(HresultOf(code, message), doing + ": " + message);
}

}  // namespace owml
