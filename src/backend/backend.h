// The narrow contract between the runtime and what executes models: Backend -> BackendModel -> BackendSession.
// Implemented under backend/<name>/, registered in one list in src/exports/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/model.h"

namespace owml {

enum class ModelFormat { kOnnx, kOrtFlatbuffer, kGguf };

// An accelerator that a backend can place a session on. The CPU is always there and not listed.
struct Device {
  DeviceKind kind = DeviceKind::kGpu;
  std::string id;    // for SessionOptions::device_id
  std::string name;  // for people
  bool integrated = false;
  std::string
      provider;  // the execution provider that offers it, for pinned targets; empty where there is no such notion
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;  // "ort", "llama", "native", "fake"
  virtual bool Handles(ModelFormat format) const = 0;

  // Parses and checks the artifact; prepares nothing for a device. Throws Error with a sentence that names file, field,
  // value.
  virtual std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat format) const = 0;

  virtual std::vector<Device> Devices() const { return {}; }

  // Why another backend should be preferred on this machine, unless this one is asked for.
  virtual std::optional<std::string> reservation() const { return std::nullopt; }
};

}  // namespace owml
