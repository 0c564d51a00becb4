// Loading reads the header and checks every reference to outside data; ONNX Runtime sees the model only when a session
// is made. Exception: files in ONNX Runtime's own format, whose schema only it can read.
#include "backend/ort/ort_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "backend/ort/declared_schema.h"
#include "backend/ort/ort_handles.h"
#include "backend/ort/ort_schema.h"
#include "backend/ort/ort_session.h"
#include "backend/ort/ort_session_options.h"
#include "backend/ort/ort_tensor.h"
#include "backend/ort/ort_types.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "formats/bad_data.h"
#include "formats/external_data.h"

namespace owml {
namespace {

// From the path where there is one, so that ONNX Runtime finds the external data beside it.
OrtSessionPtr OpenSession(const ModelSource& source, const OrtSessionOptions* options) {
  const std::string doing = source.label() + ": ONNX Runtime cannot prepare the model";
  return Adopt<OrtSessionPtr>(
      [&](OrtSession** out) {
        OrtEnv* environment = LoadedOrtLibrary().environment;
        return source.is_file()
                   ? Ort().CreateSession(environment, source.path.c_str(), options, out)
                   : Ort().CreateSessionFromArray(environment, source.bytes.data(), source.bytes.size(), options, out);
      },
      doing.c_str());
}

std::vector<OrtExternalFile> FilesFromMap(const OnnxHeader& header, const ModelSource& source) {
  std::map<std::string, std::span<const std::byte>> found;
  for (const OnnxExternalData& data : header.external_data) {
    const std::string location(data.location);
    const std::string what = "tensor " + Quoted(data.tensor) + " has its data in " + Quoted(location);
    if (!source.resources) {
      ThrowBadData(source.label(), what + ", outside the buffer, and no resource map was given");
    }
    auto known = found.find(location);
    if (known == found.end()) {
      const auto bytes = source.resources->Find(location);
      if (!bytes) ThrowBadData(source.label(), what + ", which the resource map does not have");
      known = found.emplace(location, *bytes).first;
    }
    CheckExternalRange(data, known->second.size(), source.label());
  }
  std::vector<OrtExternalFile> files;
  for (auto& [location, bytes] : found) files.push_back({location, bytes});
  return files;
}

// ONNX Runtime copies what it takes from files in memory while it optimises the graph, and drops the copy of an
// initializer that is given as a value too. The values must outlive the session.
std::vector<OrtValueSlot> AddExternalData(OrtSessionOptions* options, const std::vector<OrtExternalFile>& files,
                                          const std::vector<OrtSharedInitializer>& initializers) {
  if (files.empty()) return {};
  std::vector<const char*> names;
  std::vector<char*> buffers;
  std::vector<size_t> sizes;
  for (const OrtExternalFile& file : files) {
    names.push_back(file.location.c_str());
    // Only read; the C API has lost the const.
    buffers.push_back(reinterpret_cast<char*>(const_cast<std::byte*>(file.bytes.data())));
    sizes.push_back(file.bytes.size());
  }
  Check(
      Ort().AddExternalInitializersFromFilesInMemory(options, names.data(), buffers.data(), sizes.data(), names.size()),
      "the resource map could not be handed to ONNX Runtime");
  std::vector<OrtValueSlot> values(initializers.size());
  for (size_t i = 0; i < initializers.size(); ++i) {
    values[i].Point(initializers[i].view);
    Check(Ort().AddInitializer(options, initializers[i].name.c_str(), values[i].get()),
          "an initializer could not be shared");
  }
  return values;
}

// The names must be those of Load: the file may have been replaced since.
void RequireSameNames(const char* direction, const std::vector<TensorSpec>& declared,
                      const std::vector<TensorSpec>& prepared, const std::string& label) {
  bool same = declared.size() == prepared.size();
  for (size_t i = 0; same && i < declared.size(); ++i) same = declared[i].name == prepared[i].name;
  if (!same) ThrowBadData(label, std::string("its ") + direction + "s are not those it had when it was loaded");
}

}  // namespace

std::shared_ptr<const OrtBackendModel> OrtBackendModel::Load(const ModelSource& source, ModelFormat format) {
  LoadedOrtLibrary();
  std::shared_ptr<OrtBackendModel> model(new OrtBackendModel(source, format));
  if (format == ModelFormat::kOnnx) {
    model->ReadOnnx();
  } else {
    model->ReadOrtFlatbuffer();
  }
  return model;
}

void OrtBackendModel::ReadOnnx() {
  const std::string label = source_.label();
  if (source_.is_file()) {
    const auto file = MappedFile::Open(source_.path);
    schema_ = file->Read([&](std::span<const std::byte> bytes) {
      const OnnxHeader header = ReadOnnxHeader(bytes, label);
      if (!header.external_data.empty()) ExternalDataFolder(source_.path).Check(header);
      return DeclaredSchema(header, label);
    });
  } else {
    const OnnxHeader header = ReadOnnxHeader(source_.bytes, label);
    external_files_ = FilesFromMap(header, source_);
    ShareInitializers(header);
    schema_ = DeclaredSchema(header, label);
  }
}

void OrtBackendModel::ShareInitializers(const OnnxHeader& header) {
  for (const OnnxExternalData& data : header.external_data) {
    const auto dtype = DTypeOfOnnx(static_cast<ONNXTensorElementDataType>(data.element_type));
    if (!data.main_initializer || !dtype || !data.tensor_bytes || data.dims.size() > kMaxRank) continue;
    for (const OrtExternalFile& file : external_files_) {
      if (file.location != data.location) continue;
      const std::byte* bytes = file.bytes.data() + data.offset;
      const auto element = static_cast<uintptr_t>(std::max(BytesPerElement(*dtype), 1));
      if (reinterpret_cast<uintptr_t>(bytes) % element != 0) continue;  // kernels read whole elements
      shared_initializers_.push_back(
          {std::string(data.tensor),
           {*dtype, Dims(data.dims.begin(), data.dims.end()), const_cast<std::byte*>(bytes), *data.tensor_bytes}});
    }
  }
}

void OrtBackendModel::ReadOrtFlatbuffer() {
  SessionOptions plain;
  plain.intra_op_threads = 1;
  plain.optimization_level = OptimizationLevel::kDisabled;
  const OrtSessionSetup setup = MakeSessionSetup(plain, format_);
  const OrtSessionPtr session = OpenSession(source_, setup.options.get());
  schema_.inputs = ReadInputs(session.get(), source_.label()).specs;
  schema_.outputs = ReadOutputs(session.get(), source_.label()).specs;
}

std::unique_ptr<BackendSession> OrtBackendModel::CreateSession(const SessionOptions& options) const {
  OrtSessionSetup setup = MakeSessionSetup(options, format_);
  std::vector<OrtValueSlot> shared = AddExternalData(setup.options.get(), external_files_, shared_initializers_);
  OrtSessionPtr session = OpenSession(source_, setup.options.get());
  OrtPorts inputs = ReadInputs(session.get(), source_.label());
  OrtPorts outputs = ReadOutputs(session.get(), source_.label());
  RequireSameNames("input", schema_.inputs, inputs.specs, source_.label());
  RequireSameNames("output", schema_.outputs, outputs.specs, source_.label());
  return std::make_unique<OrtBackendSession>(shared_from_this(), std::move(shared), std::move(session),
                                             std::move(setup.report), std::move(inputs), std::move(outputs), options);
}

}  // namespace owml
