// IWinMLModel, IWinMLModelSchema and IWinMLOrtModelSchema over a BackendModel.
// See model.h.
#include "runtime/model.h"

#include <WinMLRuntimeOrt.h>

#include <string>
#include <vector>

#include "com/guard.h"
#include "com/implements.h"
#include "com/wide.h"
#include "runtime/schema_desc.h"

namespace owml {

// Answered by our own models only.
struct IModelArtifact : public IUnknown {
  virtual const std::shared_ptr<const BackendModel>& artifact() const noexcept = 0;

 protected:
  ~IModelArtifact() = default;
};

}  // namespace owml

__CRT_UUID_DECL(owml::IModelArtifact, 0x2f1d8a53, 0x0c74, 0x4b6e, 0x8d, 0x35, 0x6e, 0x0a, 0x91, 0xc4, 0x27, 0xf8)

namespace owml {
namespace {

std::vector<std::wstring> WideNames(const std::vector<TensorSpec>& specs) {
  std::vector<std::wstring> names;
  names.reserve(specs.size());
  for (const TensorSpec& spec : specs) names.push_back(ToWide(spec.name));
  return names;
}

class Model final : public Implements<Model, IWinMLModel, IWinMLModelSchema, IWinMLOrtModelSchema, IModelArtifact> {
 public:
  explicit Model(std::shared_ptr<const BackendModel> artifact)
      : artifact_(std::move(artifact)), schema_(artifact_->declared_schema()) {
    if (!schema_) return;
    input_names_ = WideNames(schema_->inputs);
    output_names_ = WideNames(schema_->outputs);
  }

  // Spec-open: an artifact that settles its schema at Build does not answer the schema interfaces at all.
  bool OffersInterface(REFIID iid) const noexcept {
    if (IsEqualGUID(iid, __uuidof(IWinMLModelSchema))) return schema_ != nullptr;
    if (IsEqualGUID(iid, __uuidof(IWinMLOrtModelSchema))) return schema_ != nullptr && artifact_->is_onnx();
    return true;
  }

  const std::shared_ptr<const BackendModel>& artifact() const noexcept override { return artifact_; }

  HRESULT STDMETHODCALLTYPE GetInputCount(UINT32* count) noexcept override {
    return Guard("IWinMLModelSchema::GetInputCount", [&] { Count(schema_->inputs, count); });
  }
  HRESULT STDMETHODCALLTYPE GetInputTensorDesc(UINT32 index, WINML_TENSOR_SCHEMA_DESC* desc) noexcept override {
    return Guard("IWinMLModelSchema::GetInputTensorDesc", [&] { Describe(schema_->inputs, "input", index, desc); });
  }
  HRESULT STDMETHODCALLTYPE GetOutputCount(UINT32* count) noexcept override {
    return Guard("IWinMLModelSchema::GetOutputCount", [&] { Count(schema_->outputs, count); });
  }
  HRESULT STDMETHODCALLTYPE GetOutputTensorDesc(UINT32 index, WINML_TENSOR_SCHEMA_DESC* desc) noexcept override {
    return Guard("IWinMLModelSchema::GetOutputTensorDesc", [&] { Describe(schema_->outputs, "output", index, desc); });
  }

  HRESULT STDMETHODCALLTYPE GetInputName(UINT32 index, LPCWSTR* name) noexcept override {
    return Guard("IWinMLOrtModelSchema::GetInputName", [&] { NameAt(input_names_, "input", index, name); });
  }
  HRESULT STDMETHODCALLTYPE FindInputIndex(LPCWSTR name, UINT32* index) noexcept override {
    return Guard("IWinMLOrtModelSchema::FindInputIndex", [&] { Find(input_names_, "input", name, index); });
  }
  HRESULT STDMETHODCALLTYPE GetOutputName(UINT32 index, LPCWSTR* name) noexcept override {
    return Guard("IWinMLOrtModelSchema::GetOutputName", [&] { NameAt(output_names_, "output", index, name); });
  }
  HRESULT STDMETHODCALLTYPE FindOutputIndex(LPCWSTR name, UINT32* index) noexcept override {
    return Guard("IWinMLOrtModelSchema::FindOutputIndex", [&] { Find(output_names_, "output", name, index); });
  }

 private:
  static void Count(const std::vector<TensorSpec>& specs, UINT32* count) {
    RequireOut(count, "count");
    *count = static_cast<UINT32>(specs.size());
  }

  static void RequireIndex(size_t size, const char* side, UINT32 index) {
    Require(index < size, E_BOUNDS,
            std::string(side) + " " + std::to_string(index) + " does not exist; the model has " + std::to_string(size));
  }

  static void Describe(const std::vector<TensorSpec>& specs, const char* side, UINT32 index,
                       WINML_TENSOR_SCHEMA_DESC* desc) {
    RequireOut(desc, "desc");
    RequireIndex(specs.size(), side, index);
    *desc = DescOf<WINML_TENSOR_SCHEMA_DESC>(specs[index].dtype, specs[index].dims);
  }

  static void NameAt(const std::vector<std::wstring>& names, const char* side, UINT32 index, LPCWSTR* name) {
    RequireOut(name, "name");
    RequireIndex(names.size(), side, index);
    *name = names[index].c_str();
  }

  // Spec-open: exact, case-sensitive match; an empty name is never found.
  static void Find(const std::vector<std::wstring>& names, const char* side, LPCWSTR name, UINT32* index) {
    RequireOut(index, "index");
    Require(name != nullptr, E_INVALIDARG, "name is null");
    for (size_t i = 0; *name && i < names.size(); ++i) {
      if (names[i] == name) {
        *index = static_cast<UINT32>(i);
        return;
      }
    }
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_FOUND),
                std::string("the model has no ") + side + " '" + ToUtf8(name) + "'");
  }

  std::shared_ptr<const BackendModel> artifact_;
  const Schema* schema_;  // null when the format settles it at Build
  std::vector<std::wstring> input_names_;
  std::vector<std::wstring> output_names_;
};

}  // namespace

ComPtr<IWinMLModel> MakeModel(std::shared_ptr<const BackendModel> artifact) { return Make<Model>(std::move(artifact)); }

std::shared_ptr<const BackendModel> ArtifactOf(IWinMLModel* model) {
  const ComPtr<IModelArtifact> ours = Query<IModelArtifact>(model);
  return ours ? ours->artifact() : nullptr;
}

}  // namespace owml
