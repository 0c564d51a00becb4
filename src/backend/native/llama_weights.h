// The weights of a model of the Llama family: found and checked at load, packed at the first Build, then shared by all
// sessions and never changed. Made by native_model.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/native/arena.h"
#include "backend/native/llama_parameters.h"
#include "backend/native/packed_matrix.h"
#include "formats/gguf_shards.h"

namespace owml::native {

// Where the tensors are in the files. Shapes in comments are [columns, rows], as in the file.
struct LlamaTensors {
  struct Layer {
    const GgufTensor* attention_norm = nullptr;     // [D]
    const GgufTensor* query = nullptr;              // [D, H d]
    const GgufTensor* key = nullptr;                // [D, K d]
    const GgufTensor* value = nullptr;              // [D, K d]
    const GgufTensor* output = nullptr;             // [H d, D]
    const GgufTensor* feed_forward_norm = nullptr;  // [D]
    const GgufTensor* gate = nullptr;               // [D, F]
    const GgufTensor* up = nullptr;                 // [D, F]
    const GgufTensor* down = nullptr;               // [F, D]
  };
  const GgufTensor* embedding = nullptr;         // [D, V]
  const GgufTensor* output_norm = nullptr;       // [D]
  const GgufTensor* head = nullptr;              // [D, V]; the embedding where the file has no other
  const GgufTensor* rope_frequencies = nullptr;  // [rotated / 2], divisors; may be null
  std::vector<Layer> layers;
};

// Throws ERROR_INVALID_DATA for a missing tensor or another shape, ERROR_NOT_SUPPORTED for a tensor or an element type
// that the engine does not know. Points into `files`.
LlamaTensors FindLlamaTensors(const std::vector<GgufFile>& files, const LlamaParameters& parameters);

class LlamaWeights {
 public:
  struct Layer {
    const float* attention_norm = nullptr;
    PackedMatrix query, key, value, output;
    const float* feed_forward_norm = nullptr;
    PackedMatrix gate, up, down;
  };

  // Keeps `files` for the embedding. Throws ERROR_INVALID_DATA, E_OUTOFMEMORY.
  LlamaWeights(std::shared_ptr<const std::vector<GgufFile>> files, const LlamaParameters& parameters,
               const LlamaTensors& tensors);

  const LlamaParameters& parameters() const { return parameters_; }
  const std::vector<Layer>& layers() const { return layers_; }
  const float* output_norm() const { return output_norm_; }
  const PackedMatrix& head() const { return head_; }
  // Radians of each pair for one position; [rotated / 2].
  const std::vector<double>& angles() const { return angles_; }

  // out = the embedding of a token, [D].
  void Embed(int32_t token, float* out) const;

 private:
  void PackAll(const LlamaTensors& tensors, ThreadPool& pool, Arena& arena);
  void MakeAngles(const GgufTensor* divisors);

  std::shared_ptr<const std::vector<GgufFile>> files_;
  LlamaParameters parameters_;
  const std::byte* embedding_ = nullptr;
  kernels::WeightType embedding_type_ = kernels::WeightType::kF32;
  std::vector<Layer> layers_;
  const float* output_norm_ = nullptr;
  PackedMatrix head_;
  std::vector<double> angles_;
  Arena arena_;
};

}  // namespace owml::native
