// The files of cgroups v1 and v2. Elsewhere than on Linux there are none, and no limit.
// See cpu_quota.h.
#include "base/cpu_quota.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <system_error>

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>
#endif

namespace owml {
namespace {

using Text = std::array<char, 64>;

// Of a file, its first word; the rest of the file stays in `rest`.
std::string_view TakeWord(std::string_view* rest) {
  constexpr std::string_view kSpace = " \t\n";
  const size_t begin = std::min(rest->find_first_not_of(kSpace), rest->size());
  const size_t end = std::min(rest->find_first_of(kSpace, begin), rest->size());
  const std::string_view word = rest->substr(begin, end - begin);
  rest->remove_prefix(end);
  return word;
}

// 0 for what is no whole number.
int64_t Number(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? value : 0;
}

uint32_t CeilDiv(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<uint32_t>(std::min<int64_t>((quota - 1) / period + 1, INT32_MAX));
}

#ifdef __linux__
int Open(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }
void Close(int file) {
  if (file >= 0) ::close(file);
}
std::string_view Read(int file, Text* text) {
  const ssize_t count = ::pread(file, text->data(), text->size(), 0);
  return {text->data(), static_cast<size_t>(std::max<ssize_t>(count, 0))};
}
#else
int Open(const std::string&) { return -1; }
void Close(int) {}
std::string_view Read(int, Text*) { return {}; }
#endif

}  // namespace

uint32_t CpuLimitFromCgroupV2(std::string_view cpu_max) noexcept {
  const int64_t quota = Number(TakeWord(&cpu_max));  // "max" is no number
  const std::string_view period = TakeWord(&cpu_max);
  return CeilDiv(quota, period.empty() ? 100000 : Number(period));
}

uint32_t CpuLimitFromCgroupV1(int64_t quota_us, int64_t period_us) noexcept { return CeilDiv(quota_us, period_us); }

const CpuQuota& CpuQuota::OfProcess() {
  static const CpuQuota quota("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota;
}

CpuQuota::CpuQuota(const std::string& process_file, const std::string& mount) {
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
      v2 ? AddV2(folder) : AddV1(folder);
      if (path.empty() || path == "/") break;
      const size_t slash = path.rfind('/');
      path = slash == std::string::npos || slash == 0 ? "/" : path.substr(0, slash);
    }
  }
}

CpuQuota::~CpuQuota() {
  for (const Files& files : groups_) Close(files.quota), Close(files.period);
}

void CpuQuota::AddV2(const std::string& folder) {
  if (const int file = Open(folder + "/cpu.max"); file >= 0) groups_.push_back({file, -1});
}

void CpuQuota::AddV1(const std::string& folder) {
  const int quota = Open(folder + "/cpu.cfs_quota_us"), period = Open(folder + "/cpu.cfs_period_us");
  if (quota >= 0 && period >= 0) {
    groups_.push_back({quota, period});
  } else {
    Close(quota), Close(period);
  }
}

uint32_t CpuQuota::Processors() const noexcept {
  uint32_t smallest = 0;
  for (const Files& files : groups_) {
    Text quota, period;
    std::string_view quota_text = Read(files.quota, &quota);
    uint32_t limit;
    if (files.period < 0) {
      limit = CpuLimitFromCgroupV2(quota_text);
    } else {
      std::string_view period_text = Read(files.period, &period);
      limit = CpuLimitFromCgroupV1(Number(TakeWord(&quota_text)), Number(TakeWord(&period_text)));
    }
    if (limit && (!smallest || limit < smallest)) smallest = limit;
  }
  return smallest;
}

}  // namespace owml
