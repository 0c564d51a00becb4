// The error object itself: texts that SetErrorInfo keeps for a thread.
// Made by SetThreadError, and by CreateErrorInfo for applications that write their own.
#pragma once

#include <oleauto.h>

#include <string>
#include <utility>

#include "com/implements.h"

namespace owml {

// Not for two threads at once while it is written; afterwards it only reads.
class ErrorObject final : public Implements<ErrorObject, IErrorInfo, ICreateErrorInfo> {
 public:
  ErrorObject() = default;
  ErrorObject(std::wstring source, std::wstring description)
      : source_(std::move(source)), description_(std::move(description)) {}

  // IErrorInfo
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

  // ICreateErrorInfo
  HRESULT STDMETHODCALLTYPE SetGUID(REFGUID guid) noexcept override {
    guid_ = guid;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetSource(LPOLESTR source) noexcept override { return Take(source, source_); }
  HRESULT STDMETHODCALLTYPE SetDescription(LPOLESTR description) noexcept override {
    return Take(description, description_);
  }
  HRESULT STDMETHODCALLTYPE SetHelpFile(LPOLESTR helpFile) noexcept override { return Take(helpFile, help_file_); }
  HRESULT STDMETHODCALLTYPE SetHelpContext(DWORD helpContext) noexcept override {
    help_context_ = helpContext;
    return S_OK;
  }

 private:
  // An absent text is a null BSTR.
  static HRESULT Give(const std::wstring& text, BSTR* out) noexcept {
    if (!out) return E_POINTER;
    *out = nullptr;
    if (text.empty()) return S_OK;
    *out = SysAllocStringLen(text.data(), static_cast<UINT>(text.size()));
    return *out ? S_OK : E_OUTOFMEMORY;
  }

  static HRESULT Take(LPCOLESTR text, std::wstring& into) noexcept {
    try {
      into = text ? text : L"";
      return S_OK;
    } catch (...) {
      return E_OUTOFMEMORY;
    }
  }

  GUID guid_ = {};
  std::wstring source_;
  std::wstring description_;
  std::wstring help_file_;
  DWORD help_context_ = 0;
};

}  // namespace owml
