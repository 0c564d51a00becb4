// Names, types and shapes of a model's inputs and outputs, as a backend knows them.
// Filled by backends, shown by the runtime's schema objects.
#pragma once

#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace owml {

struct TensorSpec {
  std::string name;  // UTF-8; empty when the format has no names
  DType dtype = DType::kUndefined;
  Dims dims;                           // kFreeDimension where the extent is open
  std::vector<std::string> dim_names;  // one entry per axis, empty string where the axis has no symbolic name
};

// Positions are the ordinals of the public API.
struct Schema {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

}  // namespace owml
