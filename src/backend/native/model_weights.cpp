// From a file's tensors to packed weights.
// Shapes were checked when the tensors were found; numbers are checked here, where they are read.
#include "backend/native/model_weights.h"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "backend/native/machine.h"
#include "backend/native/memory_placement.h"
#include "backend/native/packed_cache.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "formats/bad_data.h"

namespace owml::native {

ModelWeights::ModelWeights(std::shared_ptr<const std::vector<GgufFile>> files, const GgufModelFiles* disk,
                           const ModelPlan& plan, const ModelTensors& tensors)
    : files_(std::move(files)),
      maps_(disk ? disk->maps : std::vector<std::shared_ptr<const MappedFile>>{}),
      plan_(plan),
      embedding_(tensors.embedding.tensor->data),
      embedding_type_(WeightTypeOf(tensors.embedding.tensor->type).value()),
      layers_(tensors.layers.size()) {
  Arena measure;
  GoThrough(tensors, Pass::kMeasure, nullptr, measure);
  const uint64_t bytes = measure.used();
  if (disk) arena_ = ArenaFromCache(*disk, tensors, bytes);
  if (arena_.capacity() == 0) {
    ThreadPool pool(UsableCpuCount());
    arena_ = Arena(bytes, "the weights of " + plan_.label, Arena::Pages::kHuge);
    GoThrough(tensors, Pass::kPack, &pool, arena_);
  }
  RequireWholeFiles();
  CheckFactors(long_factors_, tensors.long_factors);
  CheckFactors(short_factors_, tensors.short_factors);
  if (const Machine* machine = MachineWithNodes())
    PlaceWeights(*this, machine->nodes).Apply(*machine->topology, kHugePage);
}

// An arena without memory where the cache is off or cannot take the weights.
Arena ModelWeights::ArenaFromCache(const GgufModelFiles& disk, const ModelTensors& tensors, uint64_t bytes) {
  const auto cache = PackedCache::OfUser();
  if (!cache) return {};
  // Panels are the same for every instruction set, so it is no part of the key.
  const PackedFileHead::Key key = PackedKeyOf(disk, "panels " + std::to_string(kernels::kPanelLayoutVersion));
  std::shared_ptr<const PackedImage> image = cache->Find(key, bytes);
  if (!image) {
    image = cache->Make(key, disk.paths.front().string(), bytes, [&](std::byte* memory) {
      ThreadPool pool(UsableCpuCount());
      Arena arena(memory, bytes, disk.maps.front());  // the image owns the memory
      GoThrough(tensors, Pass::kPack, &pool, arena);
      RequireWholeFiles();  // before others get to see them
    });
  }
  if (!image) return {};
  Arena arena(image->weights(), bytes, image);
  GoThrough(tensors, Pass::kPlace, nullptr, arena);
  return arena;
}

void ModelWeights::GoThrough(const ModelTensors& tensors, Pass pass, ThreadPool* pool, Arena& arena) {
  const auto matrix = [&](const TensorPart& part, PackedMatrix* packed) {
    *packed = UnpackedMatrix(part);
    auto* memory = arena.Take<std::byte>(packed->bytes());
    packed->panels = memory;
    if (pass == Pass::kPack) Pack(part, plan_.label, *pool, memory, packed);
  };
  const auto vector = [&](const TensorPart& part, const float** values) {
    if (!part) return;
    auto* memory = arena.Take<float>(part.count);
    *values = memory;
    if (pass != Pass::kPack) return;
    std::memcpy(memory, part.tensor->data.data() + part.first * sizeof(float), part.count * sizeof(float));
    for (uint64_t i = 0; i < part.count; ++i) {
      if (!std::isfinite(memory[i])) {
        ThrowBadData(plan_.label, "tensor " + Quoted(part.tensor->name) + " holds a weight that is no finite number");
      }
    }
  };
  const auto factors = [&](const TensorPart& part, std::span<const float>* values) {
    const float* memory = nullptr;
    vector(part, &memory);
    if (part) *values = {memory, part.count};
  };
  // As the head it is checked while it is packed.
  if (pass == Pass::kPack && tensors.embedding.tensor != tensors.head.tensor) {
    CheckFinite(tensors.embedding, plan_.label, *pool);
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    const ModelTensors::Layer& from = tensors.layers[i];
    Layer& to = layers_[i];
    vector(from.attention_norm, &to.attention_norm);
    matrix(from.query, &to.query), vector(from.query_bias, &to.query_bias);
    matrix(from.key, &to.key), vector(from.key_bias, &to.key_bias);
    matrix(from.value, &to.value), vector(from.value_bias, &to.value_bias);
    vector(from.query_norm, &to.query_norm), vector(from.key_norm, &to.key_norm);
    matrix(from.output, &to.output), vector(from.output_bias, &to.output_bias);
    vector(from.post_attention_norm, &to.post_attention_norm);
    vector(from.feed_forward_norm, &to.feed_forward_norm);
    matrix(from.gate, &to.gate), vector(from.gate_bias, &to.gate_bias);
    matrix(from.up, &to.up), vector(from.up_bias, &to.up_bias);
    matrix(from.down, &to.down), vector(from.down_bias, &to.down_bias);
    vector(from.post_feed_forward_norm, &to.post_feed_forward_norm);
  }
  vector(tensors.output_norm, &output_norm_);
  matrix(tensors.head, &head_), vector(tensors.head_bias, &head_bias_);
  factors(tensors.long_factors, &long_factors_);
  factors(tensors.short_factors, &short_factors_);
}

void ModelWeights::CheckFactors(std::span<const float> factors, const TensorPart& tensor) const {
  for (const float factor : factors) {
    if (factor > 0) continue;
    ThrowBadData(plan_.label, "tensor " + Quoted(tensor.tensor->name) + " holds " + std::to_string(factor) +
                                  "; its values must be positive");
  }
}

std::span<const float> ModelWeights::RopeFactorsFor(uint64_t capacity) const {
  return capacity > plan_.original_context ? long_factors_ : short_factors_;
}

void ModelWeights::RequireWholeFiles() const {
  for (const auto& map : maps_) map->RequireWhole();
}

}  // namespace owml::native
