// Time from the start of a job to its end on the native engine's thread pool, over pieces of nothing and pieces of a
// fixed amount of arithmetic. Medians over batches, so that neighbours on the machine count little.
//
//   thread_pool_speed [threads, default all that the process may use] [batches, default 300]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "backend/native/thread_pool.h"
#include "base/cpu_info.h"

namespace owml::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kJobsPerBatch = 240;        // about a generated token of a model with 30 layers
constexpr uint32_t kPiecesPerThread = 6;  // as the forward pass divides its products

// A chain of dependent multiplications, which no compiler shortens.
uint64_t Churn(uint64_t value, uint32_t steps) {
  for (uint32_t i = 0; i < steps; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

double Microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

struct Times {
  double best = 0, median = 0, ninetieth = 0;  // microseconds a job
};

Times TimesOfJobs(native::ThreadPool& pool, uint32_t pieces, uint32_t steps, int batches) {
  struct alignas(128) Sum {
    uint64_t value = 1;
  };
  std::vector<Sum> sums(pool.size());
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = Clock::now();
    for (int job = 0; job < kJobsPerBatch; ++job) {
      pool.Run(pieces,
               [&](uint32_t, uint32_t thread) noexcept { sums[thread].value = Churn(sums[thread].value, steps); });
    }
    times.push_back(Microseconds(Clock::now() - start) / kJobsPerBatch);
  }
  std::sort(times.begin(), times.end());
  uint64_t all = 0;
  for (const Sum& sum : sums) all ^= sum.value;
  if (all == 0) std::printf(" ");  // the sums are used
  return {times.front(), times[times.size() / 2], times[times.size() * 9 / 10]};
}

void Measure(uint32_t threads, int batches) {
  native::ThreadPool pool(threads);
  std::printf("%u threads, %d batches of %d jobs, microseconds a job (best, median, 90 %%)\n", pool.size(), batches,
              kJobsPerBatch);
  const uint32_t pieces = pool.size() * kPiecesPerThread;
  for (const uint32_t steps : {0, 100, 1000, 10000}) {
    const Times times = TimesOfJobs(pool, pieces, steps, steps > 1000 ? batches / 10 + 1 : batches);
    native::ThreadPool alone(1);
    const Times serial = TimesOfJobs(alone, pieces, steps, batches / 10 + 1);
    std::printf("  %2u pieces of %5u steps: %8.2f %8.2f %8.2f   one thread %8.2f, a thread's share of it %8.2f\n",
                pieces, steps, times.best, times.median, times.ninetieth, serial.median, serial.median / pool.size());
  }
}

}  // namespace
}  // namespace owml::bench

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  const int batches = argc > 2 ? std::atoi(argv[2]) : 300;
  if (threads < 0 || threads > 512 || batches < 1) {
    std::fprintf(stderr, "thread_pool_speed [threads] [batches]\n");
    return 2;
  }
  owml::bench::Measure(threads ? static_cast<uint32_t>(threads) : owml::UsableCpuCount(), batches);
}
