// The edge of every COM method and export: runs the body, turns exceptions into an HRESULT and keeps the sentence.
// Usage: return Guard("IWinMLStage::BindInput", [&] { Require(index < n, ...); ...; });
#pragma once

#include <unknwn.h>

#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "com/error_info.h"

namespace owml {

// The only translation of exceptions; call it inside a catch block. Sets the thread's error object.
HRESULT TranslateCurrentException(const char* method) noexcept;

// Gives the thread's error object a plain sentence where a callee that failed with `code` left none.
void CompleteThreadError(HRESULT code, const char* method) noexcept;

// `body` returns void (S_OK) or an HRESULT (S_OK, S_FALSE; a failing one gets a plain sentence unless an error object
// was set by the callee, as for pass-through calls).
template <class Body>
HRESULT Guard(const char* method, Body&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body&>>) {
      body();
      return S_OK;
    } else {
      ClearThreadError();  // what is there afterwards is the callee's
      const HRESULT result = body();
      if (FAILED(result)) CompleteThreadError(result, method);
      return result;
    }
  } catch (...) {
    return TranslateCurrentException(method);
  }
}

// Argument checks, in the order of a method's edge.
inline void RequirePointer(const void* pointer, const char* name) {
  if (!pointer) throw Error(E_POINTER, std::string(name) + " is null");
}

// Checks an out pointer and clears what it points to.
template <class T>
void RequireOut(T* pointer, const char* name) {
  RequirePointer(pointer, name);
  *pointer = T{};
}

inline void Require(bool condition, HRESULT code, const std::string& message) {
  if (!condition) throw Error(code, message);
}

// Throws Error: "<what>: <the callee's sentence>" where it left an error object, else "<what> failed with 0x80004005".
[[noreturn]] void ThrowResult(HRESULT result, const std::string& what);

// Throws when `result` is a failure. Before a call to an application's object, ClearThreadError(): an older sentence is
// not its.
inline void CheckResult(HRESULT result, const char* what) {
  if (FAILED(result)) ThrowResult(result, what);
}
inline void CheckResult(HRESULT result, const std::string& what) {
  if (FAILED(result)) ThrowResult(result, what);
}

// "<what>: <method>: ..." without building the text for a success.
inline void CheckResult(HRESULT result, const char* what, const char* method) {
  if (FAILED(result)) ThrowResult(result, std::string(what) + ": " + method);
}

}  // namespace owml
