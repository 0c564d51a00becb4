// In place of ort_backend.cpp in a build without ONNX Runtime (OWML_WITH_ORT is off, or its headers were not found).
// The formats stay known, so that the answer says what is missing.
#include "backend/ort/ort_backend.h"
#include "base/error.h"

namespace owml {
namespace {

class AbsentOrtBackend : public Backend {
 public:
  std::string_view name() const override { return "ort"; }

  bool Handles(ModelFormat format) const override {
    return format == ModelFormat::kOnnx || format == ModelFormat::kOrtFlatbuffer;
  }

  std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat) const override {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                source.label() + " needs ONNX Runtime, and this build of OpenWinML was made without it");
  }
};

}  // namespace

std::shared_ptr<const Backend> MakeOrtBackend() { return std::make_shared<AbsentOrtBackend>(); }

}  // namespace owml
