// Puts the sentence of a failure into the thread's error slot.
// Linked into each shared library; the slot belongs to the runtime library.
#include "com/error_info.h"

#include <oleauto.h>

#include "com/error_object.h"
#include "com/wide.h"

namespace owml {

void SetThreadError(HRESULT, const char* method, const std::string& message) noexcept {
  try {
    const std::string sentence = method && *method ? std::string(method) + ": " + message : message;
    const ComPtr<ErrorObject> info = Make<ErrorObject>(L"WinMLRuntime", ToWide(sentence));
    SetErrorInfo(0, info.Get());
  } catch (...) {
    ClearThreadError();
  }
}

void ClearThreadError() noexcept { SetErrorInfo(0, nullptr); }

}  // namespace owml
