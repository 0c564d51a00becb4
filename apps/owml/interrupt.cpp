// SIGINT handling with async-signal-safe calls only.
// A byte in a pipe for each interrupt wakes whoever waits for input.
#include "interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "failure.h"

namespace owml::cli {
namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free);
int wake_pipe[2] = {-1, -1};
struct sigaction previous_action;

void OnInterrupt(int) {
  const int saved_errno = errno;
  if (interrupts.fetch_add(1) >= 1) {
    static const char kNewline[] = "\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kNewline, 1);
    ::_exit(kInterrupted);
  }
  static const char kWake[] = "!";
  [[maybe_unused]] const ssize_t written = ::write(wake_pipe[1], kWake, 1);
  errno = saved_errno;
}

}  // namespace

InterruptScope::InterruptScope() {
  interrupts = 0;
  if (::pipe2(wake_pipe, O_NONBLOCK | O_CLOEXEC) != 0) throw Failure("no pipe can be made to wait for Ctrl-C");
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &previous_action);
}

InterruptScope::~InterruptScope() {
  // On the way out after Ctrl-C one more must still end with 130, not by the signal.
  if (Requested()) return;
  ::sigaction(SIGINT, &previous_action, nullptr);
  ::close(wake_pipe[0]);
  ::close(wake_pipe[1]);
}

bool InterruptScope::Requested() { return interrupts.load() > 0; }

void InterruptScope::Clear() {
  char bytes[16];
  while (::read(wake_pipe[0], bytes, sizeof bytes) > 0) continue;
  interrupts = 0;
}

int InterruptScope::Descriptor() { return wake_pipe[0]; }

}  // namespace owml::cli
