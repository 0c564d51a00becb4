// Entry of the native engine: opens and maps the files.
// Called by the registry.
#include "backend/native/native_backend.h"

#include <cstring>
#include <utility>
#include <vector>

#include "backend/native/device/cuda/cuda_devices.h"
#include "backend/native/native_model.h"
#include "base/error.h"
#include "formats/gguf_shards.h"
#include "kernels/isa.h"

namespace owml {
namespace {

using GgufFiles = std::vector<GgufFile>;

// The caller's bytes may be unaligned and go away, so they are copied.
std::shared_ptr<const GgufFiles> OpenBuffer(std::span<const std::byte> bytes, const std::string& label) {
  struct Copy {
    std::vector<std::byte> bytes;
    GgufFiles files;
  };
  auto copy = std::make_shared<Copy>();
  copy->bytes.assign(bytes.begin(), bytes.end());
  copy->files.push_back(GgufFile::Parse(copy->bytes, label));
  if (copy->files[0].metadata().FindUInt32("split.count").value_or(1) > 1) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                label + " is one shard of a larger model; load it from its file");
  }
  return {copy, &copy->files};
}

class NativeBackend final : public Backend {
 public:
  std::string_view name() const override { return "native"; }
  bool Handles(ModelFormat format) const override { return format == ModelFormat::kGguf; }

  std::vector<Device> Devices() const override { return native::CudaDevices(); }

  std::optional<std::string> reservation() const override {
    if (kernels::UsableIsas().back() != kernels::Isa::kScalar) return std::nullopt;
    return "this machine lacks the vector instructions of its kernels";
  }

  std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat format) const override {
    if (format != ModelFormat::kGguf) {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the native engine loads GGUF models only");
    }
    if (!source.is_file()) {
      return std::make_shared<const native::NativeModel>(OpenBuffer(source.bytes, source.label()), nullptr);
    }
    const auto model = std::make_shared<const GgufModelFiles>(OpenGgufModel(source.path));
    return std::make_shared<const native::NativeModel>(std::shared_ptr<const GgufFiles>(model, &model->files),
                                                       model.get());
  }
};

}  // namespace

std::shared_ptr<const Backend> MakeNativeBackend() { return std::make_shared<const NativeBackend>(); }

}  // namespace owml
