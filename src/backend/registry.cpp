// Choice of backend and the refusals that come before it: path, extension, what the bytes really are, engine.
// Spec-open: the order of file and extension checks is not given; a file that is not there is reported first.
#include "backend/registry.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backend/engine_choice.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "formats/bad_data.h"
#include "formats/file_identity.h"

namespace owml {
namespace {

std::string LowerExtension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

std::optional<ModelFormat> FormatOfExtension(const std::string& extension) {
  if (extension == ".onnx") return ModelFormat::kOnnx;
  if (extension == ".ort") return ModelFormat::kOrtFlatbuffer;
  if (extension == ".gguf") return ModelFormat::kGguf;
  return std::nullopt;
}

std::optional<ModelFormat> FormatOfIdentity(FileIdentity identity) {
  switch (identity) {
    case FileIdentity::kOnnx:
      return ModelFormat::kOnnx;
    case FileIdentity::kOrtFlatbuffer:
      return ModelFormat::kOrtFlatbuffer;
    case FileIdentity::kGguf:
      return ModelFormat::kGguf;
    default:
      return std::nullopt;
  }
}

std::string_view Noun(ModelFormat format) {
  switch (format) {
    case ModelFormat::kOnnx:
      return "an ONNX model";
    case ModelFormat::kOrtFlatbuffer:
      return "an ONNX Runtime model in ORT format";
    case ModelFormat::kGguf:
      return "a GGUF model";
  }
  return "";
}

// The bytes must be what the name promises. ONNX has no signature, so an unknown content passes there and the reader
// decides.
void CheckContent(const ModelSource& source, ModelFormat format, FileIdentity identity) {
  if (FormatOfIdentity(identity) == format) return;
  if (format == ModelFormat::kOnnx && identity == FileIdentity::kUnknown) return;
  ThrowBadData(source.label(), identity == FileIdentity::kUnknown
                                   ? "its content is not " + std::string(Noun(format)) + " as its name says"
                                   : "it is " + Describe(identity));
}

}  // namespace

Registry::Registry(std::vector<std::shared_ptr<const Backend>> backends) : backends_(std::move(backends)) {}

std::shared_ptr<const BackendModel> Registry::LoadFile(const ModelSource& source) const {
  // Opens, so a missing file, a folder and a lack of permission are told here.
  const std::vector<std::byte> start = ReadFileStart(source.path, kIdentityBytes);
  const FileIdentity identity = IdentifyFile(start);
  const std::string extension = LowerExtension(source.path);
  const std::optional<ModelFormat> format = FormatOfExtension(extension);
  if (!format) {
    const bool telling =
        identity != FileIdentity::kUnknown && identity != FileIdentity::kText && identity != FileIdentity::kEmpty;
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                source.label() + (extension.empty() ? " has no extension" : " has the extension " + Quoted(extension)) +
                    "; models are .onnx, .ort and .gguf files" +
                    (telling ? ". The file is " + Describe(identity) : ""));
  }
  CheckContent(source, *format, identity);
  return Load(source, *format);
}

std::shared_ptr<const BackendModel> Registry::LoadBuffer(const ModelSource& source) const {
  if (source.bytes.empty()) throw Error(E_INVALIDARG, "the model buffer is empty");
  const FileIdentity identity = IdentifyFile(source.bytes);
  const std::optional<ModelFormat> format = FormatOfIdentity(identity);
  // Spec-open: the result for bytes of no known format is not stated.
  if (!format) {
    ThrowBadData(source.label(), identity == FileIdentity::kUnknown
                                     ? "its bytes are neither an ONNX model nor an ORT-format model nor a GGUF model"
                                     : "it is " + Describe(identity));
  }
  return Load(source, *format);
}

std::vector<Device> Registry::Devices() const {
  std::vector<Device> devices;
  for (const auto& backend : backends_) {
    for (Device& device : backend->Devices()) devices.push_back(std::move(device));
  }
  return devices;
}

std::shared_ptr<const BackendModel> Registry::Load(const ModelSource& source, ModelFormat format) const {
  const Engine engine = format == ModelFormat::kGguf ? EngineFromEnvironment() : Engine::kAuto;
  std::vector<std::shared_ptr<const Backend>> able;
  std::copy_if(backends_.begin(), backends_.end(), std::back_inserter(able),
               [format](const auto& backend) { return backend->Handles(format); });
  for (const auto& backend : able) {
    if (engine != Engine::kAuto && backend->name() != BackendName(engine)) continue;
    if (!EngineNamed(backend->name())) return backend->Load(source, format);
    return std::make_shared<const EngineChoice>(source, format, std::move(able), engine);
  }
  if (engine != Engine::kAuto) {
    const std::string name(BackendName(engine));
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                source.label() + ": OWML_ENGINE asks for the engine '" + name + "', which this build does not have");
  }
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              source.label() + " is " + std::string(Noun(format)) + ", for which this build has no backend");
}

Engine EngineFromEnvironment() {
  const char* value = std::getenv("OWML_ENGINE");
  const std::string_view word = value ? value : "";
  if (word.empty() || word == "auto") return Engine::kAuto;
  if (word == "llama") return Engine::kLlama;
  if (word == "native") return Engine::kNative;
  throw Error(E_INVALIDARG, "OWML_ENGINE is " + Quoted(word) + "; auto, llama and native are known");
}

}  // namespace owml
