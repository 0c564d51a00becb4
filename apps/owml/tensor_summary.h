// Extremes, mean and first values of a tensor, for people.
// Printed by `owml run` for outputs that go to no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace owml::cli {

struct TensorSummary {
  double minimum = 0;  // of the finite values, as are maximum and mean; 0 without any
  double maximum = 0;
  double mean = 0;
  uint64_t not_finite = 0;
  std::vector<double> first;
};

// `data` holds as many bytes as type and extents need.
TensorSummary Summarise(DType dtype, const Dims& dims, const std::byte* data);

}  // namespace owml::cli
