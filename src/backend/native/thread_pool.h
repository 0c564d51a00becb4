// Threads that wait for numbered pieces of work: whoever is free takes the next number, so that a thread without a
// processor holds nobody up. Used by the forward pass, one pool for each session, and while weights are packed.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace owml::native {

class ThreadPool {
 public:
  // `threads` in all, at least 1: the one that calls Run and threads - 1 others.
  explicit ThreadPool(uint32_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  // Calls work(piece, thread) once for each piece below `count`, with thread < size(), and returns when all are done.
  // `work` must not throw. One caller at a time; the caller works as thread 0.
  template <class Work>
  void Run(uint32_t count, Work&& work) {
    static_assert(std::is_nothrow_invocable_v<Work&, uint32_t, uint32_t>, "work for a pool must be noexcept");
    if (count == 1 || workers_.empty()) {
      for (uint32_t piece = 0; piece < count; ++piece) work(piece, 0u);
      return;
    }
    using Body = std::remove_reference_t<Work>;
    Start(
        count, [](void* body, uint32_t piece, uint32_t thread) { (*static_cast<Body*>(body))(piece, thread); }, &work);
  }

 private:
  using Call = void (*)(void* body, uint32_t piece, uint32_t thread);

  void Start(uint32_t count, Call call, void* body);
  void Worker(uint32_t thread);
  void TakePieces(uint32_t thread);

  // Number of the job in the upper half, pieces nobody has taken yet in the lower half. Call and body belong to the job
  // and change only when all its pieces are done, so whoever takes a piece has read the right ones.
  alignas(64) std::atomic<uint64_t> open_{0};
  std::atomic<Call> call_{nullptr};
  std::atomic<void*> body_{nullptr};
  alignas(64) std::atomic<uint32_t> done_{0};
  uint32_t count_ = 0;  // of the caller
  std::atomic<bool> caller_sleeps_{false};
  alignas(64) std::atomic<uint32_t> job_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace owml::native
