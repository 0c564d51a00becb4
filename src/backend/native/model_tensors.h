// Where the weights of a model are in its files: every tensor found, its shape and type checked against the plan, and
// none left over. Made at load by native_model.cpp, read when weights are packed.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/native/model_plan.h"
#include "formats/gguf_shards.h"

namespace owml::native {

// Rows of a matrix, or values of a vector; null where the model has none.
struct TensorPart {
  const GgufTensor* tensor = nullptr;
  uint64_t first = 0;
  uint64_t count = 0;

  explicit operator bool() const { return tensor != nullptr; }
};

// Shapes in comments are [columns, rows], as in the file.
struct ModelTensors {
  struct Layer {
    TensorPart attention_norm;          // [D]
    TensorPart query, query_bias;       // [D, H d], [H d]
    TensorPart key, key_bias;           // [D, K d], [K d]
    TensorPart value, value_bias;       // [D, K d], [K d]
    TensorPart query_norm, key_norm;    // [d]
    TensorPart output, output_bias;     // [H d, D], [D]
    TensorPart post_attention_norm;     // [D]
    TensorPart feed_forward_norm;       // [D]
    TensorPart gate, gate_bias;         // [D, F], [F]
    TensorPart up, up_bias;             // [D, F], [F]
    TensorPart down, down_bias;         // [F, D], [D]
    TensorPart post_feed_forward_norm;  // [D]
  };
  TensorPart embedding;        // [D, V]
  TensorPart output_norm;      // [D]
  TensorPart head, head_bias;  // [D, V], [V]; the embedding where the file has no other
  // Divisors of the angles of long and of short contexts, [rotated / 2]; one for both, or none.
  TensorPart long_factors, short_factors;
  std::vector<Layer> layers;
};

// Throws ERROR_INVALID_DATA for a missing tensor or another shape, ERROR_NOT_SUPPORTED for a tensor or an element type
// that the engine does not know. Points into `files`.
ModelTensors FindTensors(const std::vector<GgufFile>& files, const ModelPlan& plan);

}  // namespace owml::native
