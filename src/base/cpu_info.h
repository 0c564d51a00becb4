// What the process may use of the machine's processors: affinity mask, container quota, vector extensions.
// Called by backends to size thread pools and by `owml --version`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/cpu_quota.h"

namespace owml {

// Processors this process may run on: the affinity mask, lowered by a cgroup CPU quota (rounded up). At least 1.
uint32_t UsableCpuCount();

// Processors in the affinity mask of the calling thread, without an allocation: cheap enough to be asked for each
// token. 0 where the system does not tell.
uint32_t AffinityCpuCount() noexcept;

// The same while threads work, without an allocation: the mask each time, the quota as often as it is worth asking for.
class CpuWatch {
 public:
  explicit CpuWatch(const CpuQuota& quota = CpuQuota::OfProcess()) : quota_(quota) {}

  // Processors that the calling thread may use; 0 where the system does not tell.
  uint32_t Count() noexcept;

 private:
  const CpuQuota& quota_;
  std::chrono::steady_clock::time_point next_look_ = {};
  uint32_t limit_ = 0;
};

// Model name and vector extensions, for example "AMD EPYC (AVX2 FMA AVX-512 VNNI BF16)".
std::string CpuDescription();

}  // namespace owml
