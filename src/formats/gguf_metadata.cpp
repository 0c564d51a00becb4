// Lookup and typed access to GGUF metadata.
// Called by everything that reads a GGUF file.
#include "formats/gguf_metadata.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "formats/bad_data.h"

namespace owml {

std::string GgufValue::TypeName() const {
  if (!is_array()) return std::string(Name(type));
  return "array of " + std::string(Name(element_type));
}

std::optional<int64_t> GgufValue::AsSigned() const {
  switch (type) {
    case GgufValueType::kUInt8:
      return LoadLittleEndian<uint8_t>(payload.data());
    case GgufValueType::kInt8:
      return LoadLittleEndian<int8_t>(payload.data());
    case GgufValueType::kUInt16:
      return LoadLittleEndian<uint16_t>(payload.data());
    case GgufValueType::kInt16:
      return LoadLittleEndian<int16_t>(payload.data());
    case GgufValueType::kUInt32:
      return LoadLittleEndian<uint32_t>(payload.data());
    case GgufValueType::kInt32:
      return LoadLittleEndian<int32_t>(payload.data());
    case GgufValueType::kInt64:
      return LoadLittleEndian<int64_t>(payload.data());
    case GgufValueType::kUInt64: {
      const auto value = LoadLittleEndian<uint64_t>(payload.data());
      if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<uint64_t> GgufValue::AsUnsigned() const {
  if (type == GgufValueType::kUInt64) return LoadLittleEndian<uint64_t>(payload.data());
  const std::optional<int64_t> value = AsSigned();
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<double> GgufValue::AsFloat() const {
  if (type == GgufValueType::kFloat32) return LoadLittleEndian<float>(payload.data());
  if (type == GgufValueType::kFloat64) return LoadLittleEndian<double>(payload.data());
  return std::nullopt;
}

std::optional<bool> GgufValue::AsBool() const {
  if (type != GgufValueType::kBool) return std::nullopt;
  return payload[0] != std::byte{0};
}

std::optional<std::string_view> GgufValue::AsString() const {
  if (type != GgufValueType::kString) return std::nullopt;
  return AsText(payload);
}

std::optional<GgufStrings> GgufValue::AsStrings() const {
  if (!is_array() || element_type != GgufValueType::kString) return std::nullopt;
  return GgufStrings(payload, count);
}

GgufValue GgufValue::Element(uint64_t index) const {
  GgufValue element;
  element.type = element_type;
  const size_t size = static_cast<size_t>(ByteSize(element_type));
  element.payload = payload.subspan(static_cast<size_t>(index) * size, size);
  return element;
}

GgufMetadata::GgufMetadata(std::vector<GgufEntry> entries, std::string label)
    : entries_(std::move(entries)), by_key_(entries_.size()), label_(std::move(label)) {
  std::iota(by_key_.begin(), by_key_.end(), 0u);
  // Sorted rather than hashed, so that no choice of keys makes it slow.
  std::sort(by_key_.begin(), by_key_.end(),
            [this](uint32_t a, uint32_t b) { return entries_[a].key < entries_[b].key; });
  for (size_t i = 1; i < by_key_.size(); ++i) {
    if (entries_[by_key_[i - 1]].key == entries_[by_key_[i]].key) {
      ThrowBadData(label_, "the metadata key " + Quoted(entries_[by_key_[i]].key) + " occurs twice");
    }
  }
}

const GgufValue* GgufMetadata::Find(std::string_view key) const {
  const auto at = std::lower_bound(by_key_.begin(), by_key_.end(), key,
                                   [this](uint32_t i, std::string_view wanted) { return entries_[i].key < wanted; });
  if (at == by_key_.end() || entries_[*at].key != key) return nullptr;
  return &entries_[*at].value;
}

std::optional<uint32_t> GgufMetadata::FindUInt32(std::string_view key) const {
  const std::optional<uint64_t> value = FindUInt64(key);
  if (!value) return std::nullopt;
  if (*value > UINT32_MAX) {
    ThrowBadData(label_, Quoted(key) + " is " + std::to_string(*value) + ", which does not fit 32 bits");
  }
  return static_cast<uint32_t>(*value);
}

std::optional<uint64_t> GgufMetadata::FindUInt64(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (!value) return std::nullopt;
  if (const std::optional<uint64_t> number = value->AsUnsigned()) return number;
  if (const std::optional<int64_t> negative = value->AsSigned()) {
    ThrowBadData(label_, Quoted(key) + " is " + std::to_string(*negative) + ", which must not be negative");
  }
  ThrowWrongType(key, *value, "an integer");
}

std::optional<double> GgufMetadata::FindFloat(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (!value) return std::nullopt;
  if (const std::optional<double> number = value->AsFloat()) return number;
  ThrowWrongType(key, *value, "a float");
}

std::optional<bool> GgufMetadata::FindBool(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (!value) return std::nullopt;
  if (const std::optional<bool> flag = value->AsBool()) return flag;
  ThrowWrongType(key, *value, "a bool");
}

std::optional<std::string_view> GgufMetadata::FindString(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (!value) return std::nullopt;
  if (const std::optional<std::string_view> text = value->AsString()) return text;
  ThrowWrongType(key, *value, "a string");
}

std::optional<GgufStrings> GgufMetadata::FindStrings(std::string_view key) const {
  const GgufValue* value = Find(key);
  if (!value) return std::nullopt;
  if (const std::optional<GgufStrings> strings = value->AsStrings()) return strings;
  ThrowWrongType(key, *value, "an array of strings");
}

uint32_t GgufMetadata::RequireUInt32(std::string_view key) const {
  if (const std::optional<uint32_t> value = FindUInt32(key)) return *value;
  ThrowMissing(key);
}

std::string_view GgufMetadata::RequireString(std::string_view key) const {
  if (const std::optional<std::string_view> value = FindString(key)) return *value;
  ThrowMissing(key);
}

void GgufMetadata::ThrowWrongType(std::string_view key, const GgufValue& value, std::string_view wanted) const {
  ThrowBadData(label_, Quoted(key) + " has type " + value.TypeName() + "; it must be " + std::string(wanted));
}

void GgufMetadata::ThrowMissing(std::string_view key) const {
  ThrowBadData(label_, "the metadata key " + Quoted(key) + " is missing");
}

}  // namespace owml
