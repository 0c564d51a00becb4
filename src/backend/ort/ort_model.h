// A loaded ONNX model: source, declared schema, references to external data. Nothing is prepared yet.
// Made by ort_backend.cpp; makes sessions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace owml {

// One file that tensors of a buffer model refer to, from the resource map.
struct OrtExternalFile {
  std::string location;  // as the model spells it
  std::span<const std::byte> bytes;
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
  void ReadOrtFlatbuffer();

  ModelSource source_;
  ModelFormat format_;
  Schema schema_;
  std::vector<OrtExternalFile> external_files_;  // of a buffer only: ONNX Runtime opens those beside a file itself
};

}  // namespace owml
