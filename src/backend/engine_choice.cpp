// Loading a model a second time, by another engine.
// A stage's own wish stands above OWML_ENGINE, which settles only what no stage says.
#include "backend/engine_choice.h"

#include <utility>

#include "base/error.h"

namespace owml {

std::optional<Engine> EngineNamed(std::string_view backend_name) {
  if (backend_name == "llama") return Engine::kLlama;
  if (backend_name == "native") return Engine::kNative;
  return std::nullopt;
}

EngineChoice::EngineChoice(ModelSource source, ModelFormat format, std::vector<std::shared_ptr<const Backend>> engines,
                           Engine first, std::shared_ptr<const BackendModel> loaded)
    : source_(std::move(source)),
      format_(format),
      engines_(std::move(engines)),
      loaded_(std::move(loaded)),
      models_{{first, loaded_}} {}

std::unique_ptr<BackendSession> EngineChoice::CreateSession(const SessionOptions& options) const {
  return ModelOf(options.engine)->CreateSession(options);
}

std::shared_ptr<const BackendModel> EngineChoice::ModelOf(Engine engine) const {
  if (engine == Engine::kAuto) return loaded_;
  const std::lock_guard lock(mutex_);
  if (const auto known = models_.find(engine); known != models_.end()) return known->second;
  for (const auto& backend : engines_) {
    if (EngineNamed(backend->name()) == engine)
      return models_.emplace(engine, backend->Load(source_, format_)).first->second;
  }
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              source_.label() + ": this build does not have the engine that the stage asks for");
}

}  // namespace owml
