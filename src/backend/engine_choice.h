// A GGUF model and the engines of this build that may run it: the one that is asked for, else the first that takes it.
// Another one loads the model too as soon as a stage asks for it (openwinml/stage_options.h) or wants what the first
// cannot do. Made by the registry.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace owml {

// The engine of a backend's name; nothing for backends that OWML_ENGINE does not know.
std::optional<Engine> EngineNamed(std::string_view backend_name);

// "native" or "llama".
std::string_view BackendName(Engine engine);

class EngineChoice final : public BackendModel {
 public:
  // `engines` are the backends that handle `format`, in order of preference. Loads by the one of `asked`, which must be
  // there, and throws what its Load throws. For kAuto by the first that has no reservation and does not answer
  // ERROR_NOT_SUPPORTED; the last one has the last word.
  EngineChoice(ModelSource source, ModelFormat format, std::vector<std::shared_ptr<const Backend>> engines,
               Engine asked);

  bool is_onnx() const override { return loaded_->is_onnx(); }
  const Schema* declared_schema() const override { return loaded_->declared_schema(); }

  // By the engine of the options. For kAuto by the one that loaded the model, and where no engine was asked for at load
  // either, by the next one if it answers ERROR_NOT_SUPPORTED. Throws what Load and CreateSession throw, or
  // ERROR_NOT_SUPPORTED where this build has no such engine.
  std::unique_ptr<BackendSession> CreateSession(const SessionOptions& options) const override;

  const BackendModel& loaded() const { return *loaded_; }
  Engine engine() const { return *EngineNamed(engines_[first_]->name()); }
  // Why it is this one: a clause for people.
  const std::string& reason() const { return reason_; }

 private:
  void LoadFirst();
  std::shared_ptr<const BackendModel> ModelOf(const Backend& backend) const;

  ModelSource source_;
  ModelFormat format_;
  std::vector<std::shared_ptr<const Backend>> engines_;
  Engine asked_;
  size_t first_ = 0;  // the engine that loaded the model
  std::string reason_;
  std::shared_ptr<const BackendModel> loaded_;
  mutable std::mutex mutex_;
  mutable std::map<const Backend*, std::shared_ptr<const BackendModel>> models_;
};

}  // namespace owml
