// SIGINT handling with async-signal-safe calls only.
// One scope at a time.
#include "interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "failure.h"

namespace owml::cli {
namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free);
struct sigaction previous_action;

void OnInterrupt(int) {
  if (interrupts.fetch_add(1) >= 1) {
    static const char kNewline[] = "\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kNewline, 1);
    ::_exit(kInterrupted);
  }
}

}  // namespace

InterruptScope::InterruptScope() {
  interrupts = 0;
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a read from the terminal returns, so that an interactive prompt notices.
  ::sigaction(SIGINT, &action, &previous_action);
}

InterruptScope::~InterruptScope() { ::sigaction(SIGINT, &previous_action, nullptr); }

bool InterruptScope::Requested() { return interrupts.load() > 0; }

void InterruptScope::Clear() { interrupts = 0; }

}  // namespace owml::cli
