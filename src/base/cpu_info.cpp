// Affinity mask, cgroup quota and CPU features on Linux.
// Elsewhere the hardware count is used and the description is short.
#include "base/cpu_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

namespace owml {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// 0 for what is no whole number.
int64_t Number(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? value : 0;
}

uint32_t CeilDiv(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<uint32_t>(std::min<int64_t>((quota - 1) / period + 1, INT32_MAX));
}

}  // namespace

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

uint32_t CpuLimitFromCgroupV2(const std::string& cpu_max) {
  std::istringstream text(cpu_max);
  std::string quota;
  int64_t period = 100000;
  if (!(text >> quota) || quota == "max") return 0;
  text >> period;
  return CeilDiv(Number(quota), period);
}

uint32_t CpuLimitFromCgroupV1(int64_t quota_us, int64_t period_us) { return CeilDiv(quota_us, period_us); }

uint32_t CpuLimitFromCgroups(const std::string& process_file, const std::string& mount) {
  uint32_t smallest = 0;
  auto take = [&smallest](uint32_t limit) {
    if (limit && (!smallest || limit < smallest)) smallest = limit;
  };
  std::ifstream groups(process_file);
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool v2 = controllers.empty();
    if (!v2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    // Inside a container the path is often that of the host, so the mount's root is tried as well.
    std::string path = line.substr(second + 1);
    const std::string root = v2 ? mount : mount + "/cpu";
    for (int depth = 0; depth < 64; ++depth) {
      const std::string folder = root + (path == "/" ? "" : path);
      if (v2) {
        take(CpuLimitFromCgroupV2(FirstLine(folder + "/cpu.max")));
      } else {
        const std::string quota = FirstLine(folder + "/cpu.cfs_quota_us");
        const std::string period = FirstLine(folder + "/cpu.cfs_period_us");
        if (!quota.empty() && !period.empty()) take(CpuLimitFromCgroupV1(Number(quota), Number(period)));
      }
      if (path.empty() || path == "/") break;
      const size_t slash = path.rfind('/');
      path = slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
    }
  }
  return smallest;
}

uint32_t UsableCpuCount() {
  uint32_t count = std::max(1u, std::thread::hardware_concurrency());
#ifdef __linux__
  if (const uint32_t mask = AffinityCpuCount()) count = mask;
  if (const uint32_t quota = CpuLimitFromCgroups("/proc/self/cgroup", "/sys/fs/cgroup")) count = std::min(count, quota);
#endif
  return count;
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
