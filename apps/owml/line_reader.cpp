// Waits for standard input and for the interrupt pipe at once: between looking at a flag and waiting, or in a handler
// that runs on another thread, no interrupt can be lost. Called by chat.cpp.
#include "line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "interrupt.h"

namespace owml::cli {

LineReader::Result LineReader::Next(std::string& line) {
  while (true) {
    const size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return Result::kLine;
    }
    pollfd sources[2] = {{STDIN_FILENO, POLLIN, 0}, {InterruptScope::Descriptor(), POLLIN, 0}};
    if (::poll(sources, 2, -1) < 0 && errno != EINTR) return Result::kEnd;
    if (InterruptScope::Requested()) return Result::kInterrupted;
    if (sources[0].revents == 0) continue;
    char bytes[4096];
    const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count > 0) {
      buffer_.append(bytes, static_cast<size_t>(count));
    } else if (buffer_.empty()) {
      return Result::kEnd;
    } else {
      line = std::move(buffer_);
      buffer_.clear();
      return Result::kLine;
    }
  }
}

}  // namespace owml::cli
