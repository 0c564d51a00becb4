// Writes GGUF files in memory, right or deliberately wrong.
// Used by tests of the GGUF reader, the registry and the GGUF backends, and by the fuzz corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/gguf_types.h"

namespace owml::test {

class GgufWriter {
 public:
  // Fields that a test may falsify; otherwise they are what the file holds.
  uint32_t version = 3;
  std::string magic = "GGUF";
  std::optional<uint64_t> announced_tensors;
  std::optional<uint64_t> announced_entries;
  uint64_t alignment = 32;

  template <typename T>
  GgufWriter& Add(const std::string& key, T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return AddRaw(key, GgufValueType::kBool, Little(static_cast<uint8_t>(value)));
    } else {
      return AddRaw(key, TypeOf<T>(), Little(value));
    }
  }
  GgufWriter& Add(const std::string& key, const char* value) { return Add(key, std::string(value)); }
  GgufWriter& Add(const std::string& key, const std::string& value) {
    return AddRaw(key, GgufValueType::kString, Text(value));
  }
  GgufWriter& Add(const std::string& key, const std::vector<std::string>& values) {
    std::string payload = Little(static_cast<uint32_t>(GgufValueType::kString)) + Little(uint64_t{values.size()});
    for (const std::string& value : values) payload += Text(value);
    return AddRaw(key, GgufValueType::kArray, payload);
  }
  template <typename T>
  GgufWriter& Add(const std::string& key, const std::vector<T>& values) {
    std::string payload = Little(static_cast<uint32_t>(TypeOf<T>())) + Little(uint64_t{values.size()});
    for (const T& value : values) payload += Little(value);
    return AddRaw(key, GgufValueType::kArray, payload);
  }

  // `payload` is what follows the type.
  GgufWriter& AddRaw(const std::string& key, GgufValueType type, const std::string& payload) {
    return AddRaw(key, static_cast<uint32_t>(type), payload);
  }
  GgufWriter& AddRaw(const std::string& key, uint32_t type, const std::string& payload) {
    for (auto& [name, bytes] : entries_) {
      if (name == key && !allow_duplicates) {
        bytes = Text(key) + Little(type) + payload;
        return *this;
      }
    }
    entries_.emplace_back(key, Text(key) + Little(type) + payload);
    return *this;
  }
  GgufWriter& Remove(const std::string& key) {
    std::erase_if(entries_, [&key](const auto& entry) { return entry.first == key; });
    return *this;
  }
  bool allow_duplicates = false;

  // Zeros of the right size, behind the tensors before, unless data or offset say otherwise.
  GgufWriter& Tensor(const std::string& name, uint32_t type, const std::vector<uint64_t>& dims,
                     std::optional<std::string> data = {}, std::optional<uint64_t> offset = {}) {
    if (!data) {
      uint64_t elements = 1;
      for (const uint64_t extent : dims) elements *= extent;
      const GgmlTypeInfo* info = FindGgmlType(type);
      data = std::string(info ? static_cast<size_t>(elements / info->block_elements * info->block_bytes) : 0, '\0');
    }
    tensors_.push_back({name, type, dims, std::move(*data), offset});
    return *this;
  }
  GgufWriter& Tensor(const std::string& name, GgmlType type, const std::vector<uint64_t>& dims,
                     std::optional<std::string> data = {}, std::optional<uint64_t> offset = {}) {
    return Tensor(name, static_cast<uint32_t>(type), dims, std::move(data), offset);
  }
  GgufWriter& FloatTensor(const std::string& name, const std::vector<uint64_t>& dims,
                          const std::vector<float>& values) {
    return Tensor(name, GgmlType::kF32, dims,
                  std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  }

  GgufWriter& ClearTensors() {
    tensors_.clear();
    return *this;
  }

  size_t tensor_count() const { return tensors_.size(); }

  std::string Bytes() const {
    std::string file = magic + Little(version) + Little(announced_tensors.value_or(tensors_.size())) +
                       Little(announced_entries.value_or(entries_.size()));
    for (const auto& entry : entries_) file += entry.second;
    std::string data;
    for (const auto& tensor : tensors_) {
      file += Text(tensor.name) + Little(static_cast<uint32_t>(tensor.dims.size()));
      for (const uint64_t extent : tensor.dims) file += Little(extent);
      file += Little(tensor.type) + Little(tensor.offset.value_or(data.size()));
      data += tensor.data;
      Pad(&data);
    }
    if (!tensors_.empty()) Pad(&file);
    return file + data;
  }

  template <typename T>
  static std::string Little(T value) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }
  static std::string Text(const std::string& text) { return Little(uint64_t{text.size()}) + text; }

 private:
  struct Entry {
    std::string name;
    uint32_t type;
    std::vector<uint64_t> dims;
    std::string data;
    std::optional<uint64_t> offset;
  };

  template <typename T>
  static constexpr GgufValueType TypeOf() {
    if constexpr (std::is_same_v<T, uint8_t>) return GgufValueType::kUInt8;
    if constexpr (std::is_same_v<T, int8_t>) return GgufValueType::kInt8;
    if constexpr (std::is_same_v<T, uint16_t>) return GgufValueType::kUInt16;
    if constexpr (std::is_same_v<T, int16_t>) return GgufValueType::kInt16;
    if constexpr (std::is_same_v<T, uint32_t>) return GgufValueType::kUInt32;
    if constexpr (std::is_same_v<T, int32_t>) return GgufValueType::kInt32;
    if constexpr (std::is_same_v<T, uint64_t>) return GgufValueType::kUInt64;
    if constexpr (std::is_same_v<T, int64_t>) return GgufValueType::kInt64;
    if constexpr (std::is_same_v<T, float>) return GgufValueType::kFloat32;
    if constexpr (std::is_same_v<T, double>) return GgufValueType::kFloat64;
  }

  void Pad(std::string* bytes) const { bytes->resize((bytes->size() + alignment - 1) / alignment * alignment, '\0'); }

  std::vector<std::pair<std::string, std::string>> entries_;
  std::vector<Entry> tensors_;
};

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace owml::test
