// Exception to HRESULT, the only place where that happens.
// Linked into each shared library.
#include "com/guard.h"

#include <oleauto.h>

#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "com/com_ptr.h"
#include "com/error_info.h"
#include "com/wide.h"

namespace owml {
namespace {

// Takes the thread's error object and returns its sentence; empty when there is none.
std::string TakeThreadSentence() {
  ComPtr<IErrorInfo> info;
  if (GetErrorInfo(0, info.GetAddressOf()) != S_OK || !info) return {};
  BSTR text = nullptr;
  if (FAILED(info->GetDescription(&text)) || !text) return {};
  const std::unique_ptr<OLECHAR, decltype(&SysFreeString)> owned(text, SysFreeString);
  return ToUtf8(std::wstring_view(text, SysStringLen(text)));
}

std::string CodeText(HRESULT code) {
  static const char kDigits[] = "0123456789ABCDEF";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(static_cast<uint32_t>(code) >> shift) & 15];
  return text;
}

}  // namespace

HRESULT TranslateCurrentException(const char* method) noexcept {
  HRESULT code = E_UNEXPECTED;
  try {
    throw;
  } catch (const Error& error) {
    code = error.code();
    SetThreadError(code, method, error.what());
  } catch (const std::bad_alloc&) {
    code = E_OUTOFMEMORY;
    SetThreadError(code, method, "out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    code = HresultFromErrno(error.code().value());
    SetThreadError(code, method, error.what());
  } catch (const std::system_error& error) {
    code = error.code().category() == std::generic_category() || error.code().category() == std::system_category()
               ? HresultFromErrno(error.code().value())
               : E_FAIL;
    SetThreadError(code, method, error.what());
  } catch (const std::exception& error) {
    code = E_FAIL;
    SetThreadError(code, method, error.what());
  } catch (...) {
    SetThreadError(code, method, "unknown error");
  }
  return code;
}

void CompleteThreadError(HRESULT code, const char* method) noexcept {
  ComPtr<IErrorInfo> info;
  if (GetErrorInfo(0, info.GetAddressOf()) == S_OK && info) {
    SetErrorInfo(0, info.Get());
    return;
  }
  try {
    SetThreadError(code, method, "failed with " + CodeText(code));
  } catch (...) {
    ClearThreadError();
  }
}

void ThrowResult(HRESULT result, const std::string& what) {
  const std::string sentence = TakeThreadSentence();
  throw Error(result, what + (sentence.empty() ? " failed with " + CodeText(result) : ": " + sentence));
}

}  // namespace owml
