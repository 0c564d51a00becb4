// From /proc on Linux: what getrusage tells counts the parent's memory before exec too.
// See peak_memory.h.
#include "peak_memory.h"

#include <fstream>
#include <string>

namespace owml::cli {

uint64_t PeakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

}  // namespace owml::cli
