// A table that the signal handler can read at any time, and the handler.
// POSIX; a Windows build, where pages of a mapped file cannot vanish, needs none of it.
#include "base/map_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/error.h"

namespace owml {
namespace {

struct Slot {
  std::atomic<bool> taken{false};
  // The range is valid while `end` is not 0.
  std::atomic<uintptr_t> begin{0}, end{0};
  std::atomic<bool> lost{false};
};

constexpr size_t kSlots = 1 << 16;
constinit Slot slots[kSlots];
constinit std::atomic<size_t> used{0};  // slots behind it were never taken
constinit std::atomic<uintptr_t> page_bytes{4096};
struct sigaction before;  // written before the handler is there

Slot* SlotOf(uintptr_t address) {
  const size_t count = used.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    if (address < slots[i].end.load(std::memory_order_acquire) &&
        address >= slots[i].begin.load(std::memory_order_relaxed)) {
      return &slots[i];
    }
  }
  return nullptr;
}

// What stood here before this handler.
void PassOn(int signal, siginfo_t* info, void* context) {
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // The read is repeated behind this and ends the process as it would have.
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGBUS, &usual, nullptr);
  if (info->si_code <= 0) ::raise(signal);  // sent by somebody: nothing repeats it
}

// Calls nothing but the system.
void OnBusError(int signal, siginfo_t* info, void* context) {
  const int error_number = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  Slot* const slot = info->si_code == BUS_ADRERR ? SlotOf(address) : nullptr;
  if (!slot) return PassOn(signal, info, context);
  // The file ends before this page, so nothing stands behind the rest either.
  const uintptr_t page = page_bytes.load(std::memory_order_relaxed), from = address / page * page;
  void* const zeros = ::mmap(reinterpret_cast<void*>(from), slot->end.load(std::memory_order_relaxed) - from, PROT_READ,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (zeros == MAP_FAILED) return PassOn(signal, info, context);
  slot->lost.store(true, std::memory_order_release);
  errno = error_number;
}

void Install() {
  page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction ours = {};
  ours.sa_sigaction = OnBusError;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGBUS, nullptr, &before);
  ::sigaction(SIGBUS, &ours, nullptr);
}

}  // namespace

MapGuard::MapGuard(const void* address, size_t bytes) : bytes_(bytes) {
  static std::once_flag installed;
  std::call_once(installed, Install);
  if (bytes == 0) return;
  for (size_t i = 0; i < kSlots; ++i) {
    if (slots[i].taken.exchange(true, std::memory_order_acq_rel)) continue;
    slot_ = i;
    const auto begin = reinterpret_cast<uintptr_t>(address);
    slots[i].lost.store(false, std::memory_order_relaxed);
    slots[i].begin.store(begin, std::memory_order_relaxed);
    slots[i].end.store(begin + bytes, std::memory_order_release);
    for (size_t now = used.load(); now <= i && !used.compare_exchange_weak(now, i + 1);) {
    }
    return;
  }
  throw Error(E_OUTOFMEMORY, "more than " + std::to_string(kSlots) + " files are mapped");
}

MapGuard::~MapGuard() {
  if (slot_ == kNone) return;
  slots[slot_].end.store(0, std::memory_order_release);
  slots[slot_].taken.store(false, std::memory_order_release);
}

bool MapGuard::Covers(const void* address) noexcept { return SlotOf(reinterpret_cast<uintptr_t>(address)) != nullptr; }

void MapGuard::RequireWhole(const std::string& file) const {
  if (!lost()) return;
  throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
              file + " was cut short while it was in use: it had " + std::to_string(bytes_) + " bytes");
}

bool MapGuard::lost() const noexcept { return slot_ != kNone && slots[slot_].lost.load(std::memory_order_acquire); }

}  // namespace owml
