// Affinity mask and CPU features on Linux.
// Elsewhere the hardware count is used and the description is short.
#include "base/cpu_info.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace owml {
uint32_t AffinityCpuCount() noexcept {
#ifdef __linux__
  // As wide as kernels are built; they answer EINVAL to a mask that is narrower than theirs.
  constexpr size_t kMaxCpus = 8192;
  std::array<cpu_set_t, kMaxCpus / CPU_SETSIZE> mask = {};
  if (::sched_getaffinity(0, sizeof(mask), mask.data()) != 0) return 0;
  return static_cast<uint32_t>(std::max(1, CPU_COUNT_S(sizeof(mask), mask.data())));
#else
  return 0;
#endif
}

uint32_t UsableCpuCount() {
  const uint32_t count = CpuWatch().Count();
  return count ? count : std::max(1u, std::thread::hardware_concurrency());
}

uint32_t CpuWatch::Count() noexcept {
  constexpr std::chrono::milliseconds kBetweenLooks{200};
  if (const auto now = std::chrono::steady_clock::now(); now >= next_look_) {
    next_look_ = now + kBetweenLooks;
    limit_ = quota_.Processors();
  }
  const uint32_t mask = AffinityCpuCount();
  return mask && limit_ ? std::min(mask, limit_) : std::max(mask, limit_);
}

std::string CpuDescription() {
  std::string name = "unknown CPU";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) {
      const size_t colon = line.find(':');
      if (colon != std::string::npos) name = line.substr(std::min(colon + 2, line.size()));
      break;
    }
  }
#if defined(__x86_64__) && defined(__GNUC__)
  std::string features;
  auto add = [&features](bool present, const char* label) {
    if (present) features += (features.empty() ? "" : " ") + std::string(label);
  };
  add(__builtin_cpu_supports("avx2"), "AVX2");
  add(__builtin_cpu_supports("fma"), "FMA");
  add(__builtin_cpu_supports("avx512f"), "AVX-512");
  add(__builtin_cpu_supports("avx512vnni"), "VNNI");
  add(__builtin_cpu_supports("avx512bf16"), "BF16");
  name += " (" + (features.empty() ? std::string("no AVX2") : features) + ")";
#endif
  return name;
}

}  // namespace owml
