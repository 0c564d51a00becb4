// Builds the error object of a failure and puts it into the thread's slot.
// Linked into each shared library; the slot belongs to the runtime library.
#include "com/error_info.h"

#include <oleauto.h>

#include <utility>

#include "com/implements.h"
#include "com/wide.h"

namespace owml {
namespace {

class ErrorInfo final : public Implements<ErrorInfo, IErrorInfo> {
 public:
  ErrorInfo(std::wstring source, std::wstring description)
      : source_(std::move(source)), description_(std::move(description)) {}

  HRESULT STDMETHODCALLTYPE GetGUID(GUID* guid) noexcept override {
    if (!guid) return E_POINTER;
    *guid = GUID{};
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetSource(BSTR* source) noexcept override { return Copy(source_, source); }
  HRESULT STDMETHODCALLTYPE GetDescription(BSTR* description) noexcept override {
    return Copy(description_, description);
  }
  HRESULT STDMETHODCALLTYPE GetHelpFile(BSTR* helpFile) noexcept override {
    if (!helpFile) return E_POINTER;
    *helpFile = nullptr;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetHelpContext(DWORD* helpContext) noexcept override {
    if (!helpContext) return E_POINTER;
    *helpContext = 0;
    return S_OK;
  }

 private:
  static HRESULT Copy(const std::wstring& text, BSTR* out) noexcept {
    if (!out) return E_POINTER;
    *out = SysAllocStringLen(text.data(), static_cast<UINT>(text.size()));
    return *out ? S_OK : E_OUTOFMEMORY;
  }

  std::wstring source_;
  std::wstring description_;
};

}  // namespace

void SetThreadError(HRESULT, const char* method, const std::string& message) noexcept {
  try {
    const std::string sentence = method && *method ? std::string(method) + ": " + message : message;
    const ComPtr<ErrorInfo> info = Make<ErrorInfo>(L"WinMLRuntime", ToWide(sentence));
    SetErrorInfo(0, info.Get());
  } catch (...) {
    ClearThreadError();
  }
}

void ClearThreadError() noexcept { SetErrorInfo(0, nullptr); }

}  // namespace owml
