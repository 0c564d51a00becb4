// Entry of the llama.cpp backend.
// Called by the registry.
#include "backend/llama/llama_backend.h"

#include "backend/llama/llama_library.h"
#include "backend/llama/llama_model.h"
#include "base/error.h"
#include "base/log.h"
#include "llama/llama_artifact.h"

namespace owml {

std::shared_ptr<const BackendModel> LlamaBackend::Load(const ModelSource& source, ModelFormat format) const {
  if (format != ModelFormat::kGguf) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the llama.cpp backend loads GGUF models only");
  }
  constexpr auto kModel = LlamaArtifact::Use::kModel;
  auto artifact = source.is_file() ? LlamaArtifact::OpenFile(source.path, kModel)
                                   : LlamaArtifact::OpenBuffer(source.bytes, kModel);
  return std::make_shared<LlamaModel>(LlamaLibrary::Get(), std::move(artifact));
}

std::vector<Device> LlamaBackend::Devices() const {
  try {
    return LlamaLibrary::Get().devices();
  } catch (const Error& error) {
    Log(OWML_LOG_LEVEL_WARNING, "llama", error.what());
    return {};
  }
}

}  // namespace owml
