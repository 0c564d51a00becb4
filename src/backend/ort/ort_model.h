// A loaded ONNX model: source, declared schema, references to external data. Nothing is prepared yet.
// Made by ort_backend.cpp; makes sessions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/tensor_view.h"
#include "formats/onnx_header.h"

namespace owml {

// One file that tensors of a buffer model refer to, from the resource map.
struct OrtExternalFile {
  std::string location;  // as the model spells it
  std::span<const std::byte> bytes;
};

// One initializer of a buffer model whose bytes in the resource map can be used where they are.
struct OrtSharedInitializer {
  std::string name;
  TensorView view;
};

class OrtBackendModel : public BackendModel, public std::enable_shared_from_this<OrtBackendModel> {
 public:
  static std::shared_ptr<const OrtBackendModel> Load(const ModelSource& source, ModelFormat format);

  bool is_onnx() const override { return true; }
  const Schema* declared_schema() const override { return &schema_; }
  std::unique_ptr<BackendSession> CreateSession(const SessionOptions& options) const override;

  const ModelSource& source() const { return source_; }

 private:
  OrtBackendModel(ModelSource source, ModelFormat format) : source_(std::move(source)), format_(format) {}

  void ReadOnnx();
  void ShareInitializers(const OnnxHeader& header);
  void ReadOrtFlatbuffer();

  ModelSource source_;
  ModelFormat format_;
  Schema schema_;
  // Of a buffer only: ONNX Runtime opens the files beside a model file itself.
  std::vector<OrtExternalFile> external_files_;
  std::vector<OrtSharedInitializer> shared_initializers_;
};

}  // namespace owml
