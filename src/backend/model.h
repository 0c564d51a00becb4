// The immutable half: a loaded artifact, shared by every pipeline that uses it, and where it came from.
// Made by Backend::Load; safe to use from several threads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/schema.h"
#include "backend/session.h"

namespace owml {

// External data of a model by key, from the application (IWinMLResourceMapReader). Spans stay valid as long as the map.
class ResourceMap {
 public:
  virtual ~ResourceMap() = default;
  virtual std::optional<std::span<const std::byte>> Find(const std::string& key) const = 0;
  virtual std::vector<std::string> Keys() const = 0;
};

// A file, or bytes in memory. `bytes` belong to the source (copied or kept alive by `owner`).
struct ModelSource {
  std::filesystem::path path;  // empty for a buffer
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  std::shared_ptr<const ResourceMap> resources;  // may be null

  bool is_file() const { return !path.empty(); }
  // For messages: the path in quotes, or "the model buffer".
  std::string label() const { return path.empty() ? "the model buffer" : "'" + path.string() + "'"; }
};

class BackendModel {
 public:
  virtual ~BackendModel() = default;

  virtual bool is_onnx() const { return false; }

  // The declared schema, or null when the format settles it only at Build (GGUF).
  virtual const Schema* declared_schema() const = 0;

  // Prepares the model for a device. Throws when options and model do not go together.
  virtual std::unique_ptr<BackendSession> CreateSession(const SessionOptions& options) const = 0;
};

}  // namespace owml
