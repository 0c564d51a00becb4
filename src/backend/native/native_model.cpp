// Checks at load, packing at Build.
// The architecture decides what the plan of a file says; loader and forward pass follow the plan.
#include "backend/native/native_model.h"

#include <utility>

#include "backend/native/architectures/architectures.h"
#include "backend/native/native_session.h"
#include "backend/native/native_settings.h"

namespace owml::native {
namespace {

// Where activations are rounded to 8 bits, a cache in BF16 adds little to that and is multiplied faster; models that
// lose less keep F16 (docs/decisions/0021-cache-in-bf16.md).
KvCacheType CacheTypeFor(const ModelTensors& tensors) {
  const auto rounds = [](const TensorPart& part) {
    return part && kernels::IsQuantized(WeightTypeOf(part.tensor->type).value());
  };
  for (const ModelTensors::Layer& layer : tensors.layers) {
    for (const TensorPart* part :
         {&layer.query, &layer.key, &layer.value, &layer.output, &layer.gate, &layer.up, &layer.down}) {
      if (rounds(*part)) return KvCacheType::kBF16;
    }
  }
  return KvCacheType::kF16;
}

}  // namespace

NativeModel::NativeModel(std::shared_ptr<const std::vector<GgufFile>> files, const GgufModelFiles* disk)
    : files_(std::move(files)), disk_(disk), plan_(PlanOf(files_->front())), tensors_(FindTensors(*files_, plan_)) {}

std::unique_ptr<BackendSession> NativeModel::CreateSession(const SessionOptions& options) const {
  const NativeSettings settings = ResolveNativeSettings(options, {plan_.label, plan_.context, CacheTypeFor(tensors_)});
  return std::make_unique<NativeSession>(Weights(), settings);
}

std::shared_ptr<const ModelWeights> NativeModel::Weights() const {
  const std::lock_guard lock(mutex_);
  if (auto weights = weights_.lock()) return weights;
  auto weights = std::make_shared<const ModelWeights>(files_, disk_, plan_, tensors_);
  weights_ = weights;
  return weights;
}

}  // namespace owml::native
