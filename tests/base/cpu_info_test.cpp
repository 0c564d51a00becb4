// What the process may use, under a mask as `taskset -c 0` sets it, and while mask and quota change.
#include "base/cpu_info.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace owml {
namespace {

#ifdef __linux__
TEST(UsableCpuCount, FollowsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(0, sched_getaffinity(0, sizeof before, &before));
  // On a thread of its own, so that the rest of the program keeps its mask.
  std::thread([&] {
    int first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
    EXPECT_EQ(UsableCpuCount(), 1u);
  }).join();
  EXPECT_GE(UsableCpuCount(), 1u);
  EXPECT_LE(UsableCpuCount(), static_cast<uint32_t>(CPU_COUNT(&before)));
}
#endif

#ifdef __linux__
TEST(CpuWatch, FollowsAMaskAndAQuotaThatChange) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "owml_cpu_watch";
  std::filesystem::create_directories(root / "fs");
  std::ofstream(root / "self") << "0::/\n";
  std::ofstream(root / "fs/cpu.max") << "100000 100000\n";
  const CpuQuota quota((root / "self").string(), (root / "fs").string());
  CpuWatch watch(quota);
  EXPECT_EQ(watch.Count(), 1u);
  std::ofstream(root / "fs/cpu.max") << "max 100000\n";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (watch.Count() != AffinityCpuCount() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(watch.Count(), AffinityCpuCount());
  std::thread([&watch] {
    cpu_set_t one;
    ASSERT_EQ(0, sched_getaffinity(0, sizeof one, &one));
    for (int i = 0, found = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &one) && found++ > 0) CPU_CLR(i, &one);
    }
    ASSERT_EQ(0, sched_setaffinity(0, sizeof one, &one));
    EXPECT_EQ(watch.Count(), 1u) << "a mask counts at once";
  }).join();
  std::filesystem::remove_all(root);
}
#endif

TEST(CpuDescription, IsOneLine) {
  const std::string text = CpuDescription();
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace owml
