// From /proc/self/maps on Linux.
// See file_map_guards.h.
#include "base/file_map_guards.h"

#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace owml {

void FileMapGuards::Add(int descriptor) {
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0) return;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // Devices are left out: some file systems tell one to stat and another here. A guard too many does no harm.
    uintptr_t begin = 0, end = 0;
    uint64_t inode = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*x %*x:%*x %" SCNu64, &begin, &end, &inode) != 3) {
      continue;
    }
    const auto* address = reinterpret_cast<const void*>(begin);
    if (inode != info.st_ino || end <= begin || MapGuard::Covers(address)) continue;
    guards_.push_back(std::make_unique<MapGuard>(address, end - begin));
  }
}

void FileMapGuards::RequireWhole(const std::string& file) const {
  for (const auto& guard : guards_) guard->RequireWhole(file);
}

}  // namespace owml
