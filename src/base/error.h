// The one exception type that carries an HRESULT and a sentence for a person.
// Thrown below the COM skins; com/guard.h turns it into a result and an error object.
#pragma once

#include <unknwn.h>

#include <stdexcept>
#include <string>
#include <system_error>

namespace owml {

class Error : public std::runtime_error {
 public:
  // `message` is UTF-8 and names what was wrong: file, field, value.
  Error(HRESULT code, const std::string& message) : std::runtime_error(message), code_(code) {}

  HRESULT code() const noexcept { return code_; }

 private:
  HRESULT code_;
};

// The HRESULT of an errno value: HRESULT_FROM_WIN32 of the Win32 code that Windows would give for the same condition.
HRESULT HresultFromErrno(int error_number) noexcept;

// Throws the Error for errno `error_number`: "<what>: <system text>".
[[noreturn]] void ThrowErrno(int error_number, const std::string& what);

}  // namespace owml
