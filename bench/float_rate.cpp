// What the processor's threads multiply and add in floats when nothing else holds them up: fused multiply-adds, and
// products of BF16 where it has them. Printed as JSON for peers.py: float_rate [THREADS] [avx2]
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSums = 12;  // as many as hide the latency
constexpr uint64_t kRounds = 2000000;
constexpr int kRuns = 5;

// Each returns what it has added up, so that it is computed.
__attribute__((target("avx2,fma"))) float Fma256() {
  __m256 a = _mm256_set1_ps(1e-3f), sums[kSums];
  for (__m256& sum : sums) sum = _mm256_setzero_ps();
  for (uint64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm256_fmadd_ps(a, a, sums[i]);
  }
  for (int i = 1; i < kSums; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  return _mm256_cvtss_f32(sums[0]);
}

__attribute__((target("avx512f"))) float Fma512() {
  __m512 a = _mm512_set1_ps(1e-3f), sums[kSums];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  for (uint64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_fmadd_ps(a, a, sums[i]);
  }
  for (int i = 1; i < kSums; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  return _mm512_cvtss_f32(sums[0]);
}

__attribute__((target("avx512f,avx512bf16"))) float Bfloat512() {
  __m512 sums[kSums];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1e-3f), _mm512_set1_ps(1e-3f));
  for (uint64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], a, a);
  }
  for (int i = 1; i < kSums; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  return _mm512_cvtss_f32(sums[0]);
}

// Thousand millions of operations a second, the best of some runs on all threads; `lanes` products to an instruction.
double Rate(float (*loop)(), int lanes, unsigned threads) {
  double best = 0;
  std::atomic<float> sink{0};
  for (int run = 0; run < kRuns; ++run) {
    std::atomic<unsigned> ready{0};
    const auto work = [&] {
      ++ready;
      while (ready < threads) std::this_thread::yield();
      sink = loop();
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
    while (ready + 1 < threads) std::this_thread::yield();
    const auto start = std::chrono::steady_clock::now();
    work();
    for (std::thread& other : others) other.join();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, 2.0 * lanes * kSums * static_cast<double>(kRounds) * threads / seconds / 1e9);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned threads = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 1;
  const bool narrow = argc > 2 && std::string(argv[2]) == "avx2";
  if (threads < 1 || threads > 4096 || (argc > 2 && !narrow) || argc > 3) {
    std::fprintf(stderr, "usage: float_rate [THREADS] [avx2]\n");
    return 2;
  }
  __builtin_cpu_init();
  double fma = 0, bfloat = 0;
  if (!narrow && __builtin_cpu_supports("avx512f")) {
    fma = Rate(Fma512, 16, threads);
    if (__builtin_cpu_supports("avx512bf16")) bfloat = Rate(Bfloat512, 32, threads);
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    fma = Rate(Fma256, 8, threads);
  }
  std::printf("{\"fma_gflops\": %.1f, \"bf16_gflops\": %.1f}\n", fma, bfloat);
}
