// Owning pointers for the objects of ONNX Runtime's C API.
// Used throughout this folder; the API table comes from ort_library.h.
#pragma once

#include <memory>

#include "backend/ort/ort_library.h"
#include "backend/ort/ort_status.h"

namespace owml {

// `member` is the release function in the API table.
template <typename T, auto member>
struct OrtRelease {
  void operator()(T* object) const noexcept { (Ort().*member)(object); }
};

using OrtSessionPtr = std::unique_ptr<OrtSession, OrtRelease<OrtSession, &OrtApi::ReleaseSession>>;
using OrtSessionOptionsPtr =
    std::unique_ptr<OrtSessionOptions, OrtRelease<OrtSessionOptions, &OrtApi::ReleaseSessionOptions>>;
using OrtValuePtr = std::unique_ptr<OrtValue, OrtRelease<OrtValue, &OrtApi::ReleaseValue>>;
using OrtTypeInfoPtr = std::unique_ptr<OrtTypeInfo, OrtRelease<OrtTypeInfo, &OrtApi::ReleaseTypeInfo>>;

// Takes ownership of what a creating call returns through its last argument.
template <typename Pointer, typename Create>
Pointer Adopt(Create&& create, const char* doing) {
  typename Pointer::pointer raw = nullptr;
  Check(create(&raw), doing);
  return Pointer(raw);
}

}  // namespace owml
