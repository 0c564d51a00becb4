// Threads that wait for numbered pieces of work. Each has a range of the pieces, the same part of every job, and helps
// the others when its own is done, so that a thread without a processor holds nobody up.
// Used by the forward pass, one pool for each session, and while weights are packed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "backend/native/thread_affinity.h"
#include "backend/native/thread_placement.h"

namespace owml::native {

class ThreadPool {
 public:
  // `threads` in all, at least 1: the one that calls Run and threads - 1 others. Each runs where its place says; where
  // there are no places, anywhere. The caller is the host's thread; who
  // runs jobs binds it to caller_place with a BoundScope.
  explicit ThreadPool(uint32_t threads, const std::vector<ThreadPlace>& places = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t size() const { return size_; }

  // Threads that are given pieces: all of them, or as many as the last LimitTo said.
  uint32_t active() const { return active_; }

  // Where the caller belongs while it runs jobs; empty: anywhere.
  const ProcessorSet& caller_place() const { return places_[0]; }

  // Between jobs: threads beyond so many processors get no pieces and sleep, since they would only take turns with the
  // others. They come back when there are more again; 0 means all.
  void LimitTo(uint32_t processors) noexcept { active_ = processors ? std::min(size_, processors) : size_; }

  // Calls work(piece, thread) once for each piece below `count`, with thread < size(), and returns when all are done.
  // `work` must not throw. One caller at a time; the caller works as thread 0. Where nobody is late, thread t of n does
  // the pieces from count * t / n to before count * (t + 1) / n, n being the active threads, or the pieces where they
  // are fewer.
  template <class Work>
  void Run(uint32_t count, Work&& work) {
    static_assert(std::is_nothrow_invocable_v<Work&, uint32_t, uint32_t>, "work for a pool must be noexcept");
    if (count <= 1 || active_ == 1) {
      for (uint32_t piece = 0; piece < count; ++piece) work(piece, 0u);
      return;
    }
    using Body = std::remove_reference_t<Work>;
    RunOnAll(
        count, [](void* body, uint32_t piece, uint32_t thread) { (*static_cast<Body*>(body))(piece, thread); }, &work);
  }

 private:
  using Call = void (*)(void* body, uint32_t piece, uint32_t thread);

  // What one thread is given. The thread watches its own lane only, so that a job reaches it with one cache line; two
  // lines for each, since processors fetch them in pairs.
  struct alignas(128) Lane {
    // First piece in the lower half, end in the upper half: the owner takes from the front, others from the back. The
    // job cannot end before a piece that was taken is done, so whoever takes one reads the call and body of that job.
    std::atomic<uint64_t> range{0};
    std::atomic<Call> call{nullptr};
    std::atomic<void*> body{nullptr};
    std::atomic<uint32_t> asleep{0};
  };

  void RunOnAll(uint32_t count, Call call, void* body);
  void Worker(uint32_t thread);
  void WorkOn(uint32_t thread);
  void Done(uint32_t pieces);
  void WaitUntilDone();
  void WakeWorkers(uint32_t end);
  void Stop();

  const uint32_t size_;
  uint32_t active_;                   // changed by the caller, between jobs
  const uint32_t spin_;               // pauses before a thread waits in the kernel
  std::vector<ProcessorSet> places_;  // of each thread
  std::unique_ptr<Lane[]> lanes_;
  alignas(128) std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stop_{false};
  alignas(128) std::atomic<uint32_t> left_{0};  // pieces of the job that are not done
  std::atomic<bool> caller_sleeps_{false};
  std::vector<std::thread> workers_;
};

}  // namespace owml::native
