// The thread's error object: SetErrorInfo stores it, GetErrorInfo takes it, OwmlGetLastErrorMessage reads the sentence.
// Exported by the runtime library off Windows.
#include <oleauto.h>
#include <openwinml/error.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "com/com_ptr.h"
#include "com/wide.h"

namespace {

thread_local owml::ComPtr<IErrorInfo> current_error;

}  // namespace

extern "C" {

HRESULT SetErrorInfo(ULONG reserved, IErrorInfo* info) {
  if (reserved != 0) return E_INVALIDARG;
  owml::ComPtr<IErrorInfo> replaced = info;
  current_error.Swap(replaced);  // the old object is released after the slot has changed
  return S_OK;
}

HRESULT GetErrorInfo(ULONG reserved, IErrorInfo** info) {
  if (!info) return E_POINTER;
  *info = nullptr;
  if (reserved != 0) return E_INVALIDARG;
  if (!current_error) return S_FALSE;
  *info = current_error.Detach();
  return S_OK;
}

size_t OwmlGetLastErrorMessage(char* buffer, size_t capacity) {
  std::string sentence;
  try {
    BSTR text = nullptr;
    if (current_error && SUCCEEDED(current_error->GetDescription(&text)) && text) {
      const std::unique_ptr<OLECHAR, decltype(&SysFreeString)> owned(text, SysFreeString);
      sentence = owml::ToUtf8(std::wstring_view(text, SysStringLen(text)));
    }
  } catch (...) {
    sentence.clear();
  }
  if (buffer && capacity > 0) {
    const size_t copied = std::min(capacity - 1, sentence.size());
    std::memcpy(buffer, sentence.data(), copied);
    buffer[copied] = 0;
  }
  return sentence.size();
}

}  // extern "C"
