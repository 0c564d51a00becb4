// Choosing among engines, and loading a model a second time by another one.
// A stage's own wish stands above OWML_ENGINE, which settles only what no stage says.
#include "backend/engine_choice.h"

#include <utility>

#include "base/error.h"

namespace owml {
namespace {

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

std::string Declined(const Backend& backend, const std::string& why) {
  return "the " + std::string(backend.name()) + " engine does not take the model: " + why;
}

}  // namespace

std::optional<Engine> EngineNamed(std::string_view backend_name) {
  if (backend_name == "llama") return Engine::kLlama;
  if (backend_name == "native") return Engine::kNative;
  return std::nullopt;
}

std::string_view BackendName(Engine engine) { return engine == Engine::kLlama ? "llama" : "native"; }

EngineChoice::EngineChoice(ModelSource source, ModelFormat format, std::vector<std::shared_ptr<const Backend>> engines,
                           Engine asked)
    : source_(std::move(source)), format_(format), engines_(std::move(engines)), asked_(asked) {
  LoadFirst();
}

void EngineChoice::LoadFirst() {
  if (asked_ != Engine::kAuto) {
    while (engines_[first_]->name() != BackendName(asked_)) ++first_;
    loaded_ = engines_[first_]->Load(source_, format_);
    reason_ = "OWML_ENGINE asks for it";
  }
  for (; !loaded_; first_ += loaded_ ? 0 : 1) {
    const Backend& backend = *engines_[first_];
    const bool last = first_ + 1 == engines_.size();
    if (!last && backend.reservation()) {
      reason_ = Declined(backend, *backend.reservation());
      continue;
    }
    try {
      loaded_ = backend.Load(source_, format_);
    } catch (const Error& error) {
      if (error.code() != kNotSupported || (last && reason_.empty())) throw;
      if (last) throw Error(error.code(), std::string(error.what()) + "; " + reason_);
      reason_ = Declined(backend, error.what());
    }
  }
  if (reason_.empty()) reason_ = engines_.size() > 1 ? "it knows the model" : "it is the one engine of this build";
  models_.emplace(engines_[first_].get(), loaded_);
}

std::unique_ptr<BackendSession> EngineChoice::CreateSession(const SessionOptions& asked) const {
  SessionOptions options = asked;
  if (options.engine != Engine::kAuto) {
    options.engine_reason = "the stage asks for it";
    for (const auto& backend : engines_) {
      if (EngineNamed(backend->name()) == options.engine) return ModelOf(*backend)->CreateSession(options);
    }
    throw Error(kNotSupported, source_.label() + ": this build does not have the engine that the stage asks for");
  }
  options.engine_reason = reason_;
  for (size_t i = first_;; ++i) {
    try {
      return ModelOf(*engines_[i])->CreateSession(options);
    } catch (const Error& error) {
      if (asked_ != Engine::kAuto || i + 1 == engines_.size() || error.code() != kNotSupported) throw;
      options.engine_reason = Declined(*engines_[i], error.what());
    }
  }
}

std::shared_ptr<const BackendModel> EngineChoice::ModelOf(const Backend& backend) const {
  const std::lock_guard lock(mutex_);
  if (const auto known = models_.find(&backend); known != models_.end()) return known->second;
  return models_.emplace(&backend, backend.Load(source_, format_)).first->second;
}

}  // namespace owml
