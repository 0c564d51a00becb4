// What the machine can do at best with the threads and instructions of a benchmark: read memory, multiply bytes.
// Measured by `owml bench` in the same run as the models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/huge_pages.h"

namespace owml::cli {

struct MachineLimits {
  double read_gigabytes_per_second = 0;  // sum of all threads
  double int8_gops = 0;                  // 10^9 multiplications and additions a second, sum of all threads
};

class LimitProbe {
 public:
  // Takes 96 MiB for each thread.
  explicit LimitProbe(uint32_t threads);

  // The best of a few runs of each loop, some tens of milliseconds.
  MachineLimits Measure();

 private:
  uint32_t threads_;
  std::unique_ptr<HugePages> huge_;  // where the engine keeps its weights, if the system has them
  std::vector<std::byte> usual_;
  std::byte* memory_;
};

// Of the loops, for example "avx2".
std::string LimitIsa();

}  // namespace owml::cli
