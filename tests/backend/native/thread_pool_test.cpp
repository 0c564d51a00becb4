// Pieces of work on several threads.
#include "backend/native/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

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

// Whether each of the threads did its part, and no other, in a job in which all meet at their first piece and again at
// their last. A thread that is still helping with the job before may take a piece of another's part; the others then
// wait in vain, for a while.
bool EachThreadDidItsPart(ThreadPool& pool, uint32_t count) {
  const uint32_t threads = pool.size(), part = count / threads;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  std::atomic<uint32_t> arrived{0}, left{0};
  std::vector<uint32_t> by(count);
  pool.Run(count, [&](uint32_t piece, uint32_t thread) noexcept {
    by[piece] = thread;
    const auto meet = [&](std::atomic<uint32_t>& gate) {
      ++gate;
      while (gate < threads && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    };
    if (piece % part == 0) meet(arrived);
    if (piece % part == part - 1) meet(left);
  });
  for (uint32_t piece = 0; piece < count; ++piece) {
    if (by[piece] != piece * threads / count) return false;
  }
  return true;
}

TEST(ThreadPoolTest, EachThreadHasTheSamePartOfEveryJobWhereNobodyIsLate) {
  ThreadPool pool(4);
  for (const uint32_t count : {4, 8, 64}) {
    int as_said = 0;
    for (int job = 0; job < 100 && as_said < 10; ++job) as_said += EachThreadDidItsPart(pool, count);
    EXPECT_EQ(as_said, 10) << count;
  }
}

TEST(ThreadPoolTest, TheOthersDoThePiecesOfAThreadThatIsLate) {
  constexpr uint32_t kCount = 30;
  ThreadPool pool(3);
  // Whoever takes this piece stays in it until all others are done; it is the first one of each thread in turn.
  for (const uint32_t late : {0, 10, 20}) {
    std::atomic<uint32_t> done{0};
    std::atomic<bool> in_time{true};
    pool.Run(kCount, [&](uint32_t piece, uint32_t) noexcept {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (piece == late && in_time && done < kCount - 1) {
        if (std::chrono::steady_clock::now() > end) in_time = false;
        std::this_thread::yield();
      }
      ++done;
    });
    EXPECT_TRUE(in_time) << late;
    EXPECT_EQ(done, kCount);
  }
}

TEST(ThreadPoolTest, PiecesMayBeFarMoreThanThreads) {
  constexpr uint64_t kCount = 1 << 20;
  ThreadPool pool(2);
  std::atomic<uint64_t> sum{0};
  pool.Run(kCount, [&](uint32_t piece, uint32_t) noexcept { sum.fetch_add(piece, std::memory_order_relaxed); });
  EXPECT_EQ(sum, kCount * (kCount - 1) / 2);
}

TEST(ThreadPoolTest, ThreadsBeyondTheLimitGetNoPieces) {
  ThreadPool pool(4);
  EXPECT_EQ(pool.active(), 4u);
  pool.LimitTo(1);
  EXPECT_EQ(pool.active(), 1u);
  std::atomic<uint32_t> others{0};
  pool.Run(64, [&](uint32_t, uint32_t thread) noexcept { others += thread != 0; });
  EXPECT_EQ(others, 0u);
  pool.LimitTo(3);
  EXPECT_EQ(pool.active(), 3u);
  pool.LimitTo(16);
  EXPECT_EQ(pool.active(), 4u);
  pool.LimitTo(0);
  EXPECT_EQ(pool.active(), 4u) << "where nobody knows";
}

}  // namespace
}  // namespace owml::native
