// A model that more than one engine of this build could run: loaded by one, and by another as soon as a stage asks for
// it (openwinml/stage_options.h). Made by the registry for GGUF models.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace owml {

// The engine of a backend's name; nothing for backends that OWML_ENGINE does not know.
std::optional<Engine> EngineNamed(std::string_view backend_name);

class EngineChoice final : public BackendModel {
 public:
  // `engines` are the backends that handle `format`; `loaded` is what `first`, one of them, made of the source.
  EngineChoice(ModelSource source, ModelFormat format, std::vector<std::shared_ptr<const Backend>> engines,
               Engine first, std::shared_ptr<const BackendModel> loaded);

  bool is_onnx() const override { return loaded_->is_onnx(); }
  const Schema* declared_schema() const override { return loaded_->declared_schema(); }

  // By the engine of the options; kAuto is the one that loaded the model. Throws what its Load throws, or
  // ERROR_NOT_SUPPORTED where this build has no such engine.
  std::unique_ptr<BackendSession> CreateSession(const SessionOptions& options) const override;

  const BackendModel& loaded() const { return *loaded_; }

 private:
  std::shared_ptr<const BackendModel> ModelOf(Engine engine) const;

  ModelSource source_;
  ModelFormat format_;
  std::vector<std::shared_ptr<const Backend>> engines_;
  std::shared_ptr<const BackendModel> loaded_;
  mutable std::mutex mutex_;
  mutable std::map<Engine, std::shared_ptr<const BackendModel>> models_;
};

}  // namespace owml
