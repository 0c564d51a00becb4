// Both loops of the kernels on every thread at once, the best of several runs.
// See machine_limits.h.
#include "machine_limits.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "kernels/kernels.h"

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

}  // namespace

LimitProbe::LimitProbe(uint32_t threads)
    : threads_(threads),
      huge_(HugePages::Reserve(kBytesPerThread * threads)),
      usual_(huge_ ? 0 : kBytesPerThread * threads),
      memory_(huge_ ? huge_->data() : usual_.data()) {
  std::memset(memory_, 3, kBytesPerThread * threads);
}

MachineLimits LimitProbe::Measure() {
  const kernels::Kernels& kernels = kernels::KernelsFor(kernels::ChosenIsa());
  MachineLimits limits;
  std::atomic<uint64_t> sink{0};
  for (int run = 0; run < kRuns; ++run) {
    const double read = Seconds(threads_, [&](uint32_t thread) {
      sink += kernels.probe_read(memory_ + thread * kBytesPerThread, kBytesPerThread);
    });
    const double multiply = Seconds(threads_, [&](uint32_t thread) {
      sink += kernels.probe_multiply(memory_ + thread * kBytesPerThread, kRounds);
    });
    const double bytes = static_cast<double>(kBytesPerThread) * threads_;
    const double operations = static_cast<double>(kernels::kProbeOperations * kRounds) * threads_;
    limits.read_gigabytes_per_second = std::max(limits.read_gigabytes_per_second, bytes / read / 1e9);
    limits.int8_gops = std::max(limits.int8_gops, operations / multiply / 1e9);
  }
  return limits;
}

std::string LimitIsa() { return std::string(kernels::Name(kernels::ChosenIsa())); }

}  // namespace owml::cli
