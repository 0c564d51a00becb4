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

#include "base/huge_pages.h"
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

MachineLimits MeasureLimits(uint32_t threads) {
  const kernels::Kernels& kernels = kernels::KernelsFor(kernels::ChosenIsa());
  MachineLimits limits;
  limits.isa = kernels::Name(kernels.isa);
  const size_t bytes = kBytesPerThread * threads;
  const auto huge = HugePages::Reserve(bytes);  // where the engine keeps its weights, if the system has them
  std::vector<std::byte> usual(huge ? 0 : bytes);
  std::byte* const memory = huge ? huge->data() : usual.data();
  std::memset(memory, 3, bytes);
  std::atomic<uint64_t> sink{0};
  for (int run = 0; run < kRuns; ++run) {
    const double read = Seconds(threads, [&](uint32_t thread) {
      sink += kernels.probe_read(memory + thread * kBytesPerThread, kBytesPerThread);
    });
    const double multiply = Seconds(
        threads, [&](uint32_t thread) { sink += kernels.probe_multiply(memory + thread * kBytesPerThread, kRounds); });
    limits.read_gigabytes_per_second =
        std::max(limits.read_gigabytes_per_second, static_cast<double>(bytes) / read / 1e9);
    limits.int8_gops =
        std::max(limits.int8_gops, static_cast<double>(kernels::kProbeOperations * kRounds * threads) / multiply / 1e9);
  }
  return limits;
}

}  // namespace owml::cli
