// Handing out pieces, and waiting: at most 50 microseconds by spinning, then in the kernel.
// Jobs follow each other within microseconds while a token is computed and then stop for long.
#include "backend/native/thread_pool.h"

#include <chrono>

namespace owml::native {
namespace {

constexpr std::chrono::microseconds kSpin{50};

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// True as soon as `condition` holds, false when the time for spinning is over.
template <class Condition>
bool SpinUntil(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (condition()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return condition();
}

}  // namespace

ThreadPool::ThreadPool(uint32_t threads) {
  workers_.reserve(threads > 0 ? threads - 1 : 0);
  try {
    for (uint32_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { Worker(i); });
  } catch (...) {
    stop_ = true;
    ++job_;
    job_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  ++job_;
  job_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::TakePieces(uint32_t thread) {
  uint64_t seen = open_.load();
  while (const auto left = static_cast<uint32_t>(seen)) {
    const Call call = call_.load(std::memory_order_relaxed);
    void* const body = body_.load(std::memory_order_relaxed);
    // A success means that the job has been open since `seen` was read.
    if (!open_.compare_exchange_weak(seen, seen - 1)) continue;
    call(body, left - 1, thread);
    done_.fetch_add(1);
    if (caller_sleeps_.load()) done_.notify_one();
    seen = open_.load();
  }
}

void ThreadPool::Start(uint32_t count, Call call, void* body) {
  if (count == 0) return;
  const uint32_t job = job_.load(std::memory_order_relaxed) + 1;
  call_.store(call, std::memory_order_relaxed);
  body_.store(body, std::memory_order_relaxed);
  count_ = count;
  done_.store(0);
  open_.store(uint64_t{job} << 32 | count);
  job_.store(job);
  if (sleepers_.load()) job_.notify_all();
  TakePieces(0);

  if (SpinUntil([this] { return done_.load() == count_; })) return;
  caller_sleeps_.store(true);
  for (uint32_t done = done_.load(); done != count_; done = done_.load()) done_.wait(done);
  caller_sleeps_.store(false);
}

void ThreadPool::Worker(uint32_t thread) {
  uint32_t seen = 0;
  while (true) {
    if (!SpinUntil([&] { return job_.load() != seen; })) {
      ++sleepers_;
      job_.wait(seen);
      --sleepers_;
    }
    seen = job_.load();
    if (stop_.load()) return;
    TakePieces(thread);
  }
}

}  // namespace owml::native
