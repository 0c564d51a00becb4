// Stands in for the backend in a build without llama.cpp.
// Chosen by CMake.
#include "backend/llama/llama_backend.h"
#include "base/error.h"

namespace owml {
namespace {

class AbsentLlamaBackend final : public Backend {
 public:
  std::string_view name() const override { return "llama"; }
  bool Handles(ModelFormat format) const override { return format == ModelFormat::kGguf; }
  std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat) const override {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), source.label() + ": this build has no llama.cpp");
  }
};

}  // namespace

std::shared_ptr<const Backend> MakeLlamaBackend() { return std::make_shared<const AbsentLlamaBackend>(); }

}  // namespace owml
