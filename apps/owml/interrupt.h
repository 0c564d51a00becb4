// Ctrl-C: once cancels what is running, twice leaves the program.
// Used by run, chat, generate and bench.
#pragma once

namespace owml::cli {

// Installs the handler for its lifetime; one at a time. A second SIGINT before Clear() ends the process with code 130.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  static bool Requested();
  static void Clear();

  // Readable while an interrupt is requested, to wait for one along with other input.
  static int Descriptor();
};

}  // namespace owml::cli
