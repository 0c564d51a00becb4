// Cgroup quotas, v1 and v2, on made-up trees: what a container's limit must lead to.
#include "base/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace owml {
namespace {

TEST(CgroupV2, ReadsCpuMax) {
  EXPECT_EQ(CpuLimitFromCgroupV2("max 100000"), 0u);
  EXPECT_EQ(CpuLimitFromCgroupV2("200000 100000"), 2u);
  EXPECT_EQ(CpuLimitFromCgroupV2("150000 100000"), 2u) << "a part of a processor counts as one";
  EXPECT_EQ(CpuLimitFromCgroupV2("1000 100000"), 1u);
  EXPECT_EQ(CpuLimitFromCgroupV2("50000"), 1u) << "the period is 100000 where none is told";
}

TEST(CgroupV2, TextThatIsNoQuotaMeansNoLimit) {
  for (const char* text : {"", "max", "none", "-1 100000", "0 100000", "100000 0", "100000 -5", "12x 100000",
                           "99999999999999999999 100000"}) {
    EXPECT_EQ(CpuLimitFromCgroupV2(text), 0u) << text;
  }
  EXPECT_EQ(CpuLimitFromCgroupV2("9223372036854775807 1"), 2147483647u) << "huge quotas do not wrap";
}

TEST(CgroupV1, ReadsQuotaAndPeriod) {
  EXPECT_EQ(CpuLimitFromCgroupV1(-1, 100000), 0u);
  EXPECT_EQ(CpuLimitFromCgroupV1(0, 100000), 0u);
  EXPECT_EQ(CpuLimitFromCgroupV1(100000, 0), 0u);
  EXPECT_EQ(CpuLimitFromCgroupV1(100000, 100000), 1u);
  EXPECT_EQ(CpuLimitFromCgroupV1(250000, 100000), 3u);
}

class CgroupTree : public testing::Test {
 protected:
  CgroupTree() : root_(std::filesystem::path(testing::TempDir()) / ("owml_cgroup_" + TestName())) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  ~CgroupTree() override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  static std::string TestName() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  uint32_t Limit() { return CpuQuota((root_ / "self").string(), (root_ / "fs").string()).Processors(); }

  std::filesystem::path root_;
};

TEST_F(CgroupTree, NoFilesMeanNoLimit) {
  EXPECT_EQ(Limit(), 0u);
  Write("self", "0::/a");
  EXPECT_EQ(Limit(), 0u);
}

TEST_F(CgroupTree, TheSmallestQuotaOfAllParentsCounts) {
  Write("self", "0::/a/b/c");
  Write("fs/a/b/c/cpu.max", "max 100000");
  Write("fs/a/b/cpu.max", "800000 100000");
  Write("fs/a/cpu.max", "300000 100000");
  EXPECT_EQ(Limit(), 3u);
}

TEST_F(CgroupTree, TheMountItselfIsReadInAContainer) {
  Write("self", "0::/docker/unknown/here");
  Write("fs/cpu.max", "200000 100000");
  EXPECT_EQ(Limit(), 2u);
}

TEST_F(CgroupTree, VersionOneIsReadFromTheCpuController) {
  Write("self", "5:memory:/m\n4:cpu,cpuacct:/job\n3:cpuset:/s");
  Write("fs/cpu/job/cpu.cfs_quota_us", "400000");
  Write("fs/cpu/job/cpu.cfs_period_us", "100000");
  Write("fs/cpu/cpu.cfs_quota_us", "-1");
  Write("fs/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(Limit(), 4u);
}

TEST_F(CgroupTree, LinesThatMakeNoSenseAreSkipped) {
  Write("self", "rubbish\n1:cpu\n::::\n0::/" + std::string(5000, 'x') + "\n0::relative\n0::");
  EXPECT_EQ(Limit(), 0u);
}

TEST_F(CgroupTree, AQuotaIsReadAnewEachTime) {
  Write("self", "0::/a");
  Write("fs/a/cpu.max", "200000 100000");
  const CpuQuota quota((root_ / "self").string(), (root_ / "fs").string());
  EXPECT_EQ(quota.Processors(), 2u);
  Write("fs/a/cpu.max", "max 100000");
  EXPECT_EQ(quota.Processors(), 0u);
  Write("fs/a/cpu.max", "50000 100000");
  EXPECT_EQ(quota.Processors(), 1u);
}

}  // namespace
}  // namespace owml
