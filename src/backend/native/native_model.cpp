// Checks at load, packing at Build.
// The architecture decides which loader and forward pass a file gets; there is one so far.
#include "backend/native/native_model.h"

#include <utility>

#include "backend/native/native_session.h"
#include "backend/native/native_settings.h"

namespace owml::native {

NativeModel::NativeModel(std::shared_ptr<const std::vector<GgufFile>> files)
    : files_(std::move(files)),
      parameters_(ReadLlamaParameters(files_->front())),
      tensors_(FindLlamaTensors(*files_, parameters_)) {}

std::unique_ptr<BackendSession> NativeModel::CreateSession(const SessionOptions& options) const {
  const NativeSettings settings = ResolveNativeSettings(options, parameters_.label, parameters_.context);
  return std::make_unique<NativeSession>(Weights(), settings);
}

std::shared_ptr<const LlamaWeights> NativeModel::Weights() const {
  const std::lock_guard lock(mutex_);
  if (auto weights = weights_.lock()) return weights;
  auto weights = std::make_shared<const LlamaWeights>(files_, parameters_, tensors_);
  weights_ = weights;
  return weights;
}

}  // namespace owml::native
