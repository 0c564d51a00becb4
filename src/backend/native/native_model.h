// A GGUF model that the native engine runs: its files, numbers and tensors, checked; weights are packed at the first
// Build and shared by the sessions. Made by native_backend.cpp.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/model.h"
#include "backend/native/model_weights.h"

namespace owml::native {

class NativeModel final : public BackendModel {
 public:
  // `files` keeps what they point into, `disk` too, which is null for a model from memory. Throws as PlanOf and
  // FindTensors.
  NativeModel(std::shared_ptr<const std::vector<GgufFile>> files, const GgufModelFiles* disk);

  // GGUF settles shapes at Build.
  const Schema* declared_schema() const override { return nullptr; }

  std::unique_ptr<BackendSession> CreateSession(const SessionOptions& options) const override;

 private:
  std::shared_ptr<const ModelWeights> Weights() const;

  std::shared_ptr<const std::vector<GgufFile>> files_;
  const GgufModelFiles* disk_;  // kept by files_
  ModelPlan plan_;
  ModelTensors tensors_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const ModelWeights> weights_;
};

}  // namespace owml::native
