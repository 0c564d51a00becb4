// Lines from standard input, with Ctrl-C noticed however close it comes to the wait.
// Used by the interactive chat.
#pragma once

#include <string>

namespace owml::cli {

class LineReader {
 public:
  enum class Result { kLine, kEnd, kInterrupted };

  // The next line without its end. kInterrupted: an interrupt was requested before the line was complete; needs an
  // InterruptScope. A last line without an end counts.
  Result Next(std::string& line);

 private:
  std::string buffer_;  // read, but not yet given out
};

}  // namespace owml::cli
