// The backend object; the work is in ort_model.cpp and ort_session.cpp.
// It has no state: library and environment belong to the process.
#include "backend/ort/ort_backend.h"

#include "backend/ort/ort_devices.h"
#include "backend/ort/ort_library.h"
#include "backend/ort/ort_model.h"
#include "base/error.h"
#include "base/log.h"

namespace owml {
namespace {

class OrtBackend : public Backend {
 public:
  std::string_view name() const override { return "ort"; }

  bool Handles(ModelFormat format) const override {
    return format == ModelFormat::kOnnx || format == ModelFormat::kOrtFlatbuffer;
  }

  std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat format) const override {
    return OrtBackendModel::Load(source, format);
  }

  std::vector<Device> Devices() const override {
    std::vector<Device> accelerators;
    try {
      for (OrtDevice& entry : ListOrtDevices()) {
        if (entry.kind != DeviceKind::kCpu) accelerators.push_back(std::move(entry.device));
      }
    } catch (const Error& error) {
      // Without the library there is nothing to place; a model that needs it says so at Load.
      Log(OWML_LOG_LEVEL_INFO, "ort", error.what());
    }
    return accelerators;
  }
};

}  // namespace

std::shared_ptr<const Backend> MakeOrtBackend() { return std::make_shared<OrtBackend>(); }

}  // namespace owml
