// When the threads of a device worked on a job.
// Filled by devices while a profile is taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace owml::native {

class JobTimes {
 public:
  struct alignas(64) Span {
    uint64_t begin = 0, end = 0;  // nanoseconds; equal where the thread had no part
    uint64_t busy = 0;
  };

  explicit JobTimes(uint32_t threads) : spans_(threads) {}

  static uint64_t Now() {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
  }

  void Clear() { spans_.assign(spans_.size(), {}); }
  // A thread adds to its own span only.
  void Add(uint32_t thread, uint64_t begin, uint64_t end) {
    Span& span = spans_[thread];
    if (span.end == 0) span.begin = begin;
    span.end = end;
    span.busy += end - begin;
  }
  const std::vector<Span>& spans() const { return spans_; }

 private:
  std::vector<Span> spans_;
};

}  // namespace owml::native
