// The weights of a model: packed at the first Build, then shared by all sessions and never changed.
// Made by native_model.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/native/arena.h"
#include "backend/native/model_plan.h"
#include "backend/native/model_tensors.h"
#include "backend/native/packed_matrix.h"
#include "formats/gguf_shards.h"

namespace owml::native {

class ModelWeights {
 public:
  // Null where the model has none; shapes as in ModelTensors.
  struct Layer {
    const float* attention_norm = nullptr;
    PackedMatrix query, key, value, output;
    const float *query_bias = nullptr, *key_bias = nullptr, *value_bias = nullptr, *output_bias = nullptr;
    const float *query_norm = nullptr, *key_norm = nullptr;
    const float* post_attention_norm = nullptr;
    const float* feed_forward_norm = nullptr;
    PackedMatrix gate, up, down;
    const float *gate_bias = nullptr, *up_bias = nullptr, *down_bias = nullptr;
    const float* post_feed_forward_norm = nullptr;
  };

  // Keeps `files` for the embedding. Packed weights come from the user's cache where `disk`, the model's files, is not
  // null and the cache is on; they are kept there when they had to be packed. Throws ERROR_INVALID_DATA, E_OUTOFMEMORY.
  ModelWeights(std::shared_ptr<const std::vector<GgufFile>> files, const GgufModelFiles* disk, const ModelPlan& plan,
               const ModelTensors& tensors);

  const ModelPlan& plan() const { return plan_; }
  const std::vector<Layer>& layers() const { return layers_; }
  const float* output_norm() const { return output_norm_; }
  const PackedMatrix& head() const { return head_; }
  const float* head_bias() const { return head_bias_; }
  // Everything above lies in it; never changed.
  std::span<const std::byte> memory() const { return {arena_.data(), arena_.used()}; }
  // Rows of tokens as they lie in the file.
  std::span<const std::byte> embedding() const { return embedding_; }
  kernels::WeightType embedding_type() const { return embedding_type_; }
  // Divisors of the angles for a sequence of so many positions; empty where there are none.
  std::span<const float> RopeFactorsFor(uint64_t capacity) const;
  // Throws ERROR_INVALID_DATA when a file was found cut short: what was read of it last may be zeros.
  void RequireWholeFiles() const;

 private:
  // What is done with each weight in the arena.
  enum class Pass {
    kMeasure,  // counted
    kPack,     // checked and written
    kPlace,    // pointed at: it is there already
  };
  void GoThrough(const ModelTensors& tensors, Pass pass, ThreadPool* pool, Arena& arena);
  Arena ArenaFromCache(const GgufModelFiles& disk, const ModelTensors& tensors, uint64_t bytes);
  void CheckFactors(std::span<const float> factors, const TensorPart& tensor) const;

  std::shared_ptr<const std::vector<GgufFile>> files_;
  std::vector<std::shared_ptr<const MappedFile>> maps_;  // none for a model from a buffer
  ModelPlan plan_;
  std::span<const std::byte> embedding_;
  kernels::WeightType embedding_type_ = kernels::WeightType::kF32;
  std::vector<Layer> layers_;
  const float* output_norm_ = nullptr;
  PackedMatrix head_;
  const float* head_bias_ = nullptr;
  std::span<const float> long_factors_, short_factors_;
  Arena arena_;
};

}  // namespace owml::native
