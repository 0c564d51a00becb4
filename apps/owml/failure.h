// Failing calls of the public API as exceptions with the native sentence, and the exit codes of `owml`.
// Caught once, in main().
#pragma once

#include <unknwn.h>

#include <stdexcept>
#include <string>

namespace owml::cli {

// Exit codes, documented in `owml --help`.
enum ExitCode : int { kOk = 0, kFailed = 1, kUsage = 2, kInterrupted = 130 };

class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& sentence, HRESULT code = E_FAIL, ExitCode exit_code = kFailed)
      : std::runtime_error(sentence), code_(code), exit_code_(exit_code) {}
  HRESULT code() const { return code_; }
  ExitCode exit_code() const { return exit_code_; }

 private:
  HRESULT code_;
  ExitCode exit_code_;
};

// Throws Failure with the thread's sentence, or with `what` and the code where there is none.
void Check(HRESULT result, const std::string& what);

// A mistake in the command line: exit code 2.
[[noreturn]] void UsageError(const std::string& sentence);

}  // namespace owml::cli
