// Transparent huge pages of Linux; elsewhere there are none.
// Asked for by madvise, so that both "always" and "madvise" of the system's setting work.
#include "base/huge_pages.h"

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>

#include <fstream>
#include <string>
#endif

namespace owml {

#if defined(__linux__)
namespace {

constexpr size_t kPage = size_t{2} << 20;

bool SystemHasThem() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text;
  return std::getline(file, text) && text.find("[never]") == std::string::npos;
}

uint64_t FreeBytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  uint64_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes * 1024;
    std::getline(file, unit);
  }
  return 0;
}

}  // namespace

std::unique_ptr<HugePages> HugePages::Reserve(size_t bytes) {
  static const bool usable = SystemHasThem();
  if (!usable || bytes < kMinBytes || bytes > PTRDIFF_MAX - 2 * kPage || bytes > FreeBytes() / 2) return nullptr;
  const size_t whole = (bytes + kPage - 1) / kPage * kPage;
  void* map =
      ::mmap(nullptr, whole + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(map);
  const size_t before = (kPage - reinterpret_cast<uintptr_t>(map) % kPage) % kPage;
  if (before != 0) ::munmap(begin, before);
  if (before != kPage) ::munmap(begin + before + whole, kPage - before);
  ::madvise(begin + before, whole, MADV_HUGEPAGE);
  return std::unique_ptr<HugePages>(new HugePages(begin + before, whole));
}

HugePages::~HugePages() { ::munmap(data_, bytes_); }
#else
std::unique_ptr<HugePages> HugePages::Reserve(size_t) { return nullptr; }
HugePages::~HugePages() = default;
#endif

}  // namespace owml
