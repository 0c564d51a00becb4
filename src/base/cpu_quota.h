// How many processors' time the control groups of a process allow it, as containers are limited.
// Asked when thread pools are sized, and again while they work.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace owml {

// The quota of a cgroup from the text of its files. v2, "cpu.max": "max 100000" or "150000 100000", in whole processors
// rounded up. 0 means no limit or text that cannot be read.
uint32_t CpuLimitFromCgroupV2(std::string_view cpu_max) noexcept;

// v1: cpu.cfs_quota_us and cpu.cfs_period_us; quota -1 means none. 0 means no limit.
uint32_t CpuLimitFromCgroupV1(int64_t quota_us, int64_t period_us) noexcept;

class CpuQuota {
 public:
  // Of this process, whose files are found once and stay open.
  static const CpuQuota& OfProcess();

  // `process_file` is a process's /proc/self/cgroup, `mount` the folder of the cgroup file systems.
  CpuQuota(const std::string& process_file, const std::string& mount);
  ~CpuQuota();
  CpuQuota(const CpuQuota&) = delete;
  CpuQuota& operator=(const CpuQuota&) = delete;

  // The smallest quota of the process's cgroups and of all their parents, read anew without an allocation; 0 means no
  // limit. Cgroups that the process has moved to since are not followed.
  uint32_t Processors() const noexcept;

 private:
  // Descriptors; v2 has one file for both, and its period is -1.
  struct Files {
    int quota;
    int period;
  };
  void AddV2(const std::string& folder);
  void AddV1(const std::string& folder);

  std::vector<Files> groups_;
};

}  // namespace owml
