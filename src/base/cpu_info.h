// What the process may use of the machine's processors: affinity mask, container quota, vector extensions.
// Called by backends to size thread pools and by `owml --version`.
#pragma once

#include <cstdint>
#include <string>

namespace owml {

// Processors this process may run on: the affinity mask, lowered by a cgroup CPU quota (rounded up). At least 1.
uint32_t UsableCpuCount();

// Processors in the affinity mask of the calling thread, without an allocation: cheap enough to be asked for each
// token. 0 where the system does not tell.
uint32_t AffinityCpuCount() noexcept;

// The quota part of it from the text of the cgroup files, for tests: v2 "cpu.max" ("max 100000" or "150000 100000").
// 0 means no limit or text that cannot be read.
uint32_t CpuLimitFromCgroupV2(const std::string& cpu_max);

// v1: cpu.cfs_quota_us and cpu.cfs_period_us; quota -1 means none. 0 means no limit.
uint32_t CpuLimitFromCgroupV1(int64_t quota_us, int64_t period_us);

// The smallest quota of a process's cgroups and of all their parents. `process_file` is its /proc/self/cgroup, `mount`
// the folder of the cgroup file systems. 0 means no limit.
uint32_t CpuLimitFromCgroups(const std::string& process_file, const std::string& mount);

// Model name and vector extensions, for example "AMD EPYC (AVX2 FMA AVX-512 VNNI BF16)".
std::string CpuDescription();

}  // namespace owml
