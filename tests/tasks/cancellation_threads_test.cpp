// A cancellation source between threads; run under the thread sanitizer.
// Works on the class, without the exported function.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tasks/cancellation_source.h"

namespace owml::test {
namespace {

TEST(CancellationSourceThreads, EveryReaderSeesACancelFromAnyThread) {
  const auto source = MakeCancellationSource();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([source] {
      BOOL canceled = FALSE;
      while (!canceled) {
        ASSERT_EQ(source->GetIsCanceled(&canceled), S_OK);
        std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < 2; ++i) threads.emplace_back([source] { EXPECT_EQ(source->Cancel(), S_OK); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace owml::test
