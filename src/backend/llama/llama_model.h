// A loaded GGUF model: files that were checked, and what llama.cpp says about them. Weights are read at the first Build
// for a device and shared by the sessions there. Made by llama_backend.cpp.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backend/llama/llama_settings.h"
#include "backend/model.h"

struct llama_model;

namespace owml {

class LlamaArtifact;
class LlamaLibrary;

class LlamaModel final : public BackendModel {
 public:
  // Throws ERROR_INVALID_DATA for what llama.cpp would not load, ERROR_NOT_SUPPORTED for models that continue no text.
  LlamaModel(const LlamaLibrary& library, std::shared_ptr<const LlamaArtifact> artifact);
  ~LlamaModel() override;

  // GGUF settles shapes at Build.
  const Schema* declared_schema() const override { return nullptr; }

  std::unique_ptr<BackendSession> CreateSession(const SessionOptions& options) const override;

 private:
  std::shared_ptr<llama_model> WeightsOn(const std::string& device) const;

  const LlamaLibrary& library_;
  std::shared_ptr<const LlamaArtifact> artifact_;
  LlamaModelFacts facts_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::weak_ptr<llama_model>> weights_;  // by device name, empty for the CPU
};

}  // namespace owml
