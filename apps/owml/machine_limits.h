// What the machine can do at best with the threads and instructions of a benchmark: read memory, multiply bytes.
// Measured by `owml bench` in the same run as the models.
#pragma once

#include <cstdint>
#include <string>

namespace owml::cli {

struct MachineLimits {
  std::string isa;                       // of the loops
  double read_gigabytes_per_second = 0;  // sum of all threads
  double int8_gops = 0;                  // 10^9 multiplications and additions a second, sum of all threads
};

MachineLimits MeasureLimits(uint32_t threads);

}  // namespace owml::cli
