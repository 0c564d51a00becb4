// Pieces of work on several threads.
#include "backend/native/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <vector>

namespace owml::native {
namespace {

TEST(ThreadPoolTest, EveryPieceIsDoneOnceHoweverManyThreadsThereAre) {
  for (const uint32_t threads : {1, 2, 3, 16}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const uint32_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(count);
      std::atomic<bool> in_range{true};
      pool.Run(count, [&](uint32_t piece, uint32_t thread) noexcept {
        if (thread >= threads) in_range = false;
        ++done[piece];
      });
      EXPECT_TRUE(in_range);
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ThreadPoolTest, JobsInQuickSuccessionDoNotMix) {
  ThreadPool pool(4);
  std::vector<uint64_t> values(64);
  for (uint64_t job = 1; job <= 3000; ++job) {
    pool.Run(static_cast<uint32_t>(1 + job % 64), [&](uint32_t piece, uint32_t) noexcept { values[piece] += job; });
  }
  uint64_t expected = 0, actual = 0;
  for (uint64_t job = 1; job <= 3000; ++job) expected += job * (1 + job % 64);
  for (const uint64_t value : values) actual += value;
  EXPECT_EQ(actual, expected);
}

TEST(ThreadPoolTest, SleepingThreadsWakeForTheNextJob) {
  ThreadPool pool(3);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than the pool spins
    std::atomic<int> done{0};
    pool.Run(50, [&](uint32_t, uint32_t) noexcept { ++done; });
    EXPECT_EQ(done, 50);
  }
}

TEST(ThreadPoolTest, TheCallerWaitsForASlowPiece) {
  ThreadPool pool(2);
  std::atomic<int> done{0};
  pool.Run(2, [&](uint32_t, uint32_t) noexcept {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++done;
  });
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace owml::native
