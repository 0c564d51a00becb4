// Both loops of the kernels on every thread at once, the best of several runs.
// See machine_limits.h.
#include "machine_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <thread>
#include <vector>

#include "kernels/kernels.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace owml::cli {
namespace {

constexpr size_t kBytesPerThread = size_t{96} << 20;  // beyond every cache
constexpr size_t kRounds = 100000;
constexpr int kRuns = 5;

// Seconds until all threads have done `work(thread)`.
double Seconds(uint32_t threads, const std::function<void(uint32_t)>& work) {
  std::atomic<uint32_t> ready{0};
  std::vector<std::thread> workers;
  for (uint32_t i = 1; i < threads; ++i) {
    workers.emplace_back([&, i] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      work(i);
    });
  }
  while (ready + 1 < threads) std::this_thread::yield();
  const auto start = std::chrono::steady_clock::now();
  ++ready;
  work(0);
  for (std::thread& worker : workers) worker.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// In pages of 2 MiB where the system has them, as the engine keeps its weights.
class LargeMemory {
 public:
  explicit LargeMemory(size_t bytes) : memory_(::operator new (bytes, std::align_val_t{kPage})) {
#if defined(__linux__)
    ::madvise(memory_, bytes, MADV_HUGEPAGE);
#endif
    std::memset(memory_, 3, bytes);
  }
  ~LargeMemory() { ::operator delete (memory_, std::align_val_t{kPage}); }
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;
  const std::byte* data() const { return static_cast<const std::byte*>(memory_); }

 private:
  static constexpr size_t kPage = size_t{2} << 20;
  void* memory_;
};

}  // namespace

MachineLimits MeasureLimits(uint32_t threads) {
  const kernels::Kernels& kernels = kernels::KernelsFor(kernels::ChosenIsa());
  MachineLimits limits;
  limits.isa = kernels::Name(kernels.isa);
  const LargeMemory memory(kBytesPerThread * threads);
  std::atomic<uint64_t> sink{0};
  for (int run = 0; run < kRuns; ++run) {
    const double read = Seconds(threads, [&](uint32_t thread) {
      sink += kernels.probe_read(memory.data() + thread * kBytesPerThread, kBytesPerThread);
    });
    const double multiply = Seconds(threads, [&](uint32_t thread) {
      sink += kernels.probe_multiply(memory.data() + thread * kBytesPerThread, kRounds);
    });
    limits.read_gigabytes_per_second =
        std::max(limits.read_gigabytes_per_second, static_cast<double>(kBytesPerThread * threads) / read / 1e9);
    limits.int8_gops =
        std::max(limits.int8_gops, static_cast<double>(kernels::kProbeOperations * kRounds * threads) / multiply / 1e9);
  }
  return limits;
}

}  // namespace owml::cli
