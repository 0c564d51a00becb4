// Masks of threads: bound for a scope, given back, never wider than they were.
#include "backend/native/thread_affinity.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "backend/native/thread_pool.h"

namespace owml::native {
namespace {

std::vector<uint32_t> ProcessorsOfThisThread() {
  std::vector<uint32_t> processors;
  const ProcessorSet mask = ProcessorSet::OfThisThread();
  for (uint32_t i = 0; i < ProcessorSet::kMost; ++i) {
    if (mask.Holds(i)) processors.push_back(i);
  }
  return processors;
}

TEST(ThreadAffinityTest, AScopeBindsTheThreadAndGivesItsMaskBack) {
  std::thread([] {  // keeps the rest of the program as it is
    const auto before = ProcessorsOfThisThread();
    ASSERT_FALSE(before.empty());
    const std::vector<uint32_t> last = {before.back()};
    {
      const BoundScope bound{ProcessorSet(last)};
      EXPECT_EQ(ProcessorsOfThisThread(), last);
    }
    EXPECT_EQ(ProcessorsOfThisThread(), before);
  })
      .join();
}

TEST(ThreadAffinityTest, AThreadIsNotBoundToProcessorsThatItMayNotUse) {
  std::thread([] {
    const auto before = ProcessorsOfThisThread();
    ASSERT_FALSE(before.empty());
    const std::vector<uint32_t> more = {before.front(), ProcessorSet::kMost - 1};
    const BoundScope bound{ProcessorSet(more)};
    EXPECT_EQ(ProcessorsOfThisThread(), before);
    const BoundScope anywhere{ProcessorSet()};
    EXPECT_EQ(ProcessorsOfThisThread(), before);
  }).join();
}

TEST(ThreadAffinityTest, ThreadsOfAPoolRunWhereTheirPlacesSay) {
  const auto processors = ProcessorsOfThisThread();
  ASSERT_FALSE(processors.empty());
  const std::vector<uint32_t> first = {processors.front()}, last = {processors.back()};
  ThreadPool pool(3, {{first, 0}, {first, 0}, {last, 0}});
  // Each thread stays in its piece until all have one.
  std::vector<std::vector<uint32_t>> seen(3);
  std::atomic<uint32_t> arrived{0};
  pool.Run(3, [&](uint32_t, uint32_t thread) noexcept {
    seen[thread] = ProcessorsOfThisThread();
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(seen[0], processors) << "the caller is bound by the scope of who calls";
  EXPECT_EQ(seen[1], first);
  EXPECT_EQ(seen[2], last);
  const BoundScope here(pool.caller_place());
  EXPECT_EQ(ProcessorsOfThisThread(), first);
}

}  // namespace
}  // namespace owml::native
