// Ctrl-C: once cancels what is running, twice leaves the program.
// Used by chat, generate and bench.
#pragma once

namespace owml::cli {

// Installs the handler for its lifetime. A second SIGINT before Clear() ends the process with code 130.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  static bool Requested();
  static void Clear();
};

}  // namespace owml::cli
