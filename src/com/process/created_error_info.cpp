// CreateErrorInfo: an error object that an application's processor fills and hands to SetErrorInfo.
// Exported by the runtime library off Windows.
#include <oleauto.h>

#include <exception>
#include <string>

#include "com/implements.h"

namespace owml {
namespace {

class CreatedErrorInfo final : public Implements<CreatedErrorInfo, ICreateErrorInfo, IErrorInfo> {
 public:
  HRESULT STDMETHODCALLTYPE SetGUID(REFGUID guid) noexcept override {
    guid_ = guid;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetSource(LPOLESTR source) noexcept override { return Keep(source, source_); }
  HRESULT STDMETHODCALLTYPE SetDescription(LPOLESTR description) noexcept override {
    return Keep(description, description_);
  }
  HRESULT STDMETHODCALLTYPE SetHelpFile(LPOLESTR helpFile) noexcept override { return Keep(helpFile, help_file_); }
  HRESULT STDMETHODCALLTYPE SetHelpContext(DWORD helpContext) noexcept override {
    help_context_ = helpContext;
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE GetGUID(GUID* guid) noexcept override {
    if (!guid) return E_POINTER;
    *guid = guid_;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetSource(BSTR* source) noexcept override { return Give(source_, source); }
  HRESULT STDMETHODCALLTYPE GetDescription(BSTR* description) noexcept override {
    return Give(description_, description);
  }
  HRESULT STDMETHODCALLTYPE GetHelpFile(BSTR* helpFile) noexcept override { return Give(help_file_, helpFile); }
  HRESULT STDMETHODCALLTYPE GetHelpContext(DWORD* helpContext) noexcept override {
    if (!helpContext) return E_POINTER;
    *helpContext = help_context_;
    return S_OK;
  }

 private:
  static HRESULT Keep(LPCOLESTR text, std::wstring& kept) noexcept {
    try {
      kept = text ? text : L"";
      return S_OK;
    } catch (const std::exception&) {
      return E_OUTOFMEMORY;
    }
  }
  static HRESULT Give(const std::wstring& kept, BSTR* out) noexcept {
    if (!out) return E_POINTER;
    *out = kept.empty() ? nullptr : SysAllocStringLen(kept.data(), static_cast<UINT>(kept.size()));
    return kept.empty() || *out ? S_OK : E_OUTOFMEMORY;
  }

  GUID guid_ = {};
  std::wstring source_;
  std::wstring description_;
  std::wstring help_file_;
  DWORD help_context_ = 0;
};

}  // namespace
}  // namespace owml

extern "C" HRESULT CreateErrorInfo(ICreateErrorInfo** errorInfo) {
  if (!errorInfo) return E_POINTER;
  *errorInfo = nullptr;
  try {
    *errorInfo = owml::Make<owml::CreatedErrorInfo>().Detach();
    return S_OK;
  } catch (const std::exception&) {
    return E_OUTOFMEMORY;
  }
}
