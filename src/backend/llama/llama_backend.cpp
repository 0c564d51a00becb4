// Entry of the llama.cpp backend.
// Called by the registry.
#include "backend/llama/llama_backend.h"

#include "backend/llama/llama_library.h"
#include "backend/llama/llama_model.h"
#include "base/error.h"
#include "base/log.h"
#include "llama/llama_artifact.h"

namespace owml {

namespace {

class LlamaBackend final : public Backend {
 public:
  std::string_view name() const override { return "llama"; }
  bool Handles(ModelFormat format) const override { return format == ModelFormat::kGguf; }

  std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat format) const override {
    if (format != ModelFormat::kGguf) {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the llama.cpp backend loads GGUF models only");
    }
    auto artifact = source.is_file() ? LlamaArtifact::OpenFile(source.path) : LlamaArtifact::OpenBuffer(source.bytes);
    return std::make_shared<LlamaModel>(LlamaLibrary::Get(), std::move(artifact));
  }

  // GPUs of the accepted families; empty also when llama.cpp cannot be started.
  std::vector<Device> Devices() const override {
    try {
      return LlamaLibrary::Get().devices();
    } catch (const Error& error) {
      Log(OWML_LOG_LEVEL_WARNING, "llama", error.what());
      return {};
    }
  }
};

}  // namespace

std::shared_ptr<const Backend> MakeLlamaBackend() { return std::make_shared<const LlamaBackend>(); }

}  // namespace owml
