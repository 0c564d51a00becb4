// Handing out ranges, helping, and waiting: about 50 microseconds by spinning, then in the kernel.
// Jobs follow each other within microseconds while a token is computed and then stop for long.
#include "backend/native/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/log.h"

namespace owml::native {
namespace {

constexpr std::chrono::microseconds kSpin{50};

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

// A pause takes 10 to 150 cycles, as the processor likes; counted once, so that the loops read no clock.
uint32_t PausesInSpin() {
  static const uint32_t pauses = [] {
    constexpr uint32_t kSample = 200;
    auto shortest = std::chrono::steady_clock::duration::max();  // others may interrupt one
    for (int i = 0; i < 8; ++i) {
      const auto start = std::chrono::steady_clock::now();
      for (uint32_t pause = 0; pause < kSample; ++pause) Pause();
      shortest = std::min(shortest, std::chrono::steady_clock::now() - start);
    }
    const auto sample = std::max<int64_t>(1, std::chrono::nanoseconds(shortest).count());
    return static_cast<uint32_t>(std::chrono::nanoseconds(kSpin).count() * kSample / sample) + 1;
  }();
  return pauses;
}

// True as soon as `condition` holds, false when the time for spinning is over.
template <class Condition>
bool SpinUntil(uint32_t pauses, Condition&& condition) {
  for (uint32_t i = 0; i < pauses; ++i) {
    if (condition()) return true;
    Pause();
  }
  return condition();
}

constexpr uint64_t Range(uint64_t begin, uint64_t end) { return end << 32 | begin; }
constexpr uint32_t Begin(uint64_t range) { return static_cast<uint32_t>(range); }
constexpr uint32_t End(uint64_t range) { return static_cast<uint32_t>(range >> 32); }
constexpr bool HasPieces(uint64_t range) { return Begin(range) < End(range); }

}  // namespace

ThreadPool::ThreadPool(uint32_t threads, const std::vector<ThreadPlace>& places)
    : size_(std::max(1u, threads)), active_(size_), spin_(PausesInSpin()), places_(size_), lanes_(new Lane[size_]) {
  for (size_t i = 0; i < std::min(places.size(), places_.size()); ++i) places_[i] = ProcessorSet(places[i].processors);
  workers_.reserve(size_ - 1);
  try {
    for (uint32_t i = 1; i < size_; ++i) workers_.emplace_back([this, i] { Worker(i); });
  } catch (...) {
    Stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Stop() {
  stop_ = true;
  sleepers_.fetch_add(0, std::memory_order_acq_rel);  // as in RunOnAll
  WakeWorkers(size_);
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::RunOnAll(uint32_t count, Call call, void* body) {
  left_.store(count, std::memory_order_relaxed);  // published with the ranges
  const uint32_t threads = std::min(active_, count);
  for (uint32_t thread = threads; thread-- > 0;) {
    const uint64_t begin = uint64_t{count} * thread / threads, end = uint64_t{count} * (thread + 1) / threads;
    Lane& lane = lanes_[thread];
    lane.call.store(call, std::memory_order_relaxed);
    lane.body.store(body, std::memory_order_relaxed);
    lane.range.store(Range(begin, end), std::memory_order_release);
  }
  // Either this sees that a worker went to sleep, or the worker, which adds itself first, sees its range.
  if (sleepers_.fetch_add(0, std::memory_order_acq_rel) != 0) WakeWorkers(threads);
  WorkOn(0);
  WaitUntilDone();
}

void ThreadPool::WakeWorkers(uint32_t end) {
  for (uint32_t thread = 1; thread < end; ++thread) {
    Lane& lane = lanes_[thread];
    const bool wanted = HasPieces(lane.range.load(std::memory_order_relaxed)) || stop_.load(std::memory_order_relaxed);
    if (!wanted || lane.asleep.exchange(0, std::memory_order_acq_rel) == 0) continue;
    lane.asleep.notify_one();
  }
}

// The thread's own pieces from the front, then those of the others from the back, the next thread's first.
void ThreadPool::WorkOn(uint32_t thread) {
  for (uint32_t i = 0, at = thread; i < size_; ++i, at = at + 1 < size_ ? at + 1 : 0) {
    const bool own = i == 0;
    Lane& lane = lanes_[at];
    uint32_t done = 0;
    uint64_t range = lane.range.load(std::memory_order_relaxed);
    while (HasPieces(range)) {
      const uint64_t rest = own ? Range(Begin(range) + 1, End(range)) : Range(Begin(range), End(range) - 1);
      if (!lane.range.compare_exchange_weak(range, rest, std::memory_order_acquire, std::memory_order_relaxed))
        continue;
      const Call call = lane.call.load(std::memory_order_relaxed);
      call(lane.body.load(std::memory_order_relaxed), own ? Begin(range) : End(rest), thread);
      ++done;
      range = lane.range.load(std::memory_order_relaxed);
    }
    if (done > 0) Done(done);
  }
}

void ThreadPool::Done(uint32_t pieces) {
  // Sequentially consistent with the caller's going to sleep: one of the two sees the other.
  if (left_.fetch_sub(pieces) == pieces && caller_sleeps_.load()) left_.notify_one();
}

void ThreadPool::WaitUntilDone() {
  if (SpinUntil(spin_, [this] { return left_.load(std::memory_order_acquire) == 0; })) return;
  caller_sleeps_.store(true);
  for (uint32_t left = left_.load(); left != 0; left = left_.load()) left_.wait(left);
  caller_sleeps_.store(false, std::memory_order_relaxed);
}

void ThreadPool::Worker(uint32_t thread) {
  if (!places_[thread].empty() && !places_[thread].BindThisThread()) {
    Log(OWML_LOG_LEVEL_WARNING, "native", "thread " + std::to_string(thread) + " cannot be bound to its processors");
  }
  Lane& lane = lanes_[thread];
  const auto called = [&] { return HasPieces(lane.range.load(std::memory_order_relaxed)); };
  while (true) {
    if (!SpinUntil(spin_, called)) {
      lane.asleep.store(1, std::memory_order_relaxed);  // published with the number of sleepers
      sleepers_.fetch_add(1, std::memory_order_acq_rel);
      if (!called() && !stop_.load()) lane.asleep.wait(1);
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
      lane.asleep.store(0, std::memory_order_relaxed);
      if (stop_.load()) return;
    }
    WorkOn(thread);
  }
}

}  // namespace owml::native
