// Random contents for the inputs that `owml run` is not given.
// Called by run.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace owml::cli {

// Floats in [0, 1), integers 0 to 9 (four-bit ones 0 to 7), booleans 0 or 1. The same seed and index give the same
// values everywhere, whatever the other inputs are. Throws Failure, naming the input, when the tensor is too large.
std::vector<std::byte> RandomData(DType dtype, const Dims& dims, uint64_t seed, uint32_t index,
                                  const std::string& name);

}  // namespace owml::cli
