// Chooses the backend of a model: by extension for files, by content for buffers, by OWML_ENGINE among GGUF engines.
// Built once in src/exports/ from the explicit list of backends; used by runtime/runtime.cpp.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"

namespace owml {

class Registry {
 public:
  // Order is preference: the first backend that handles a format takes it.
  explicit Registry(std::vector<std::shared_ptr<const Backend>> backends);

  // ERROR_FILE_NOT_FOUND, E_INVALIDARG (folder), ERROR_NOT_SUPPORTED (extension, engine or missing backend),
  // ERROR_INVALID_DATA where the content is something else (Git LFS pointer, web page, ...), or the backend's error.
  std::shared_ptr<const BackendModel> LoadFile(const ModelSource& source) const;

  // The bytes decide: ORT flatbuffer ("ORTM" at offset 4), GGUF magic, else ONNX protobuf.
  std::shared_ptr<const BackendModel> LoadBuffer(const ModelSource& source) const;

  std::vector<Device> Devices() const;

 private:
  std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat format) const;

  std::vector<std::shared_ptr<const Backend>> backends_;
};

// The engine that OWML_ENGINE (auto, llama, native; empty or unset = auto) asks for; E_INVALIDARG for another word.
Engine EngineFromEnvironment();

}  // namespace owml
