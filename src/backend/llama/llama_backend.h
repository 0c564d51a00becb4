// The backend that runs GGUF models through llama.cpp.
// Registered in src/exports/.
#pragma once

#include "backend/backend.h"

namespace owml {

class LlamaBackend final : public Backend {
 public:
  std::string_view name() const override { return "llama"; }
  bool Handles(ModelFormat format) const override { return format == ModelFormat::kGguf; }
  std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat format) const override;

  // GPUs of the accepted families; empty also when llama.cpp cannot be started.
  std::vector<Device> Devices() const override;
};

}  // namespace owml
