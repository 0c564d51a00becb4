// The key-value part of a GGUF file: typed values that point into the file's bytes, and getters that say what is wrong.
// Filled by the GGUF reader; read by backends, tokenizers and `owml inspect`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/byte_reader.h"
#include "formats/gguf_types.h"

namespace owml {

// The strings of a string array, walked in order. Points into the file; the reader has checked every length.
class GgufStrings {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;

    Iterator() = default;
    Iterator(const std::byte* at, uint64_t left) : at_(at), left_(left) {}

    std::string_view operator*() const { return {reinterpret_cast<const char*>(at_ + 8), Length()}; }
    Iterator& operator++() {
      at_ += 8 + Length();
      --left_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return left_ == other.left_; }

   private:
    size_t Length() const { return static_cast<size_t>(LoadLittleEndian<uint64_t>(at_)); }

    const std::byte* at_ = nullptr;
    uint64_t left_ = 0;
  };

  GgufStrings(std::span<const std::byte> bytes, uint64_t count) : bytes_(bytes), count_(count) {}

  uint64_t size() const { return count_; }
  Iterator begin() const { return {bytes_.data(), count_}; }
  Iterator end() const { return {}; }

 private:
  std::span<const std::byte> bytes_;
  uint64_t count_;
};

// One value. `payload` is the scalar's bytes, the string's text, or the array's elements as stored.
struct GgufValue {
  GgufValueType type = GgufValueType::kUInt8;
  GgufValueType element_type = GgufValueType::kUInt8;  // of arrays
  uint64_t count = 1;                                  // elements of arrays
  std::span<const std::byte> payload;

  bool is_array() const { return type == GgufValueType::kArray; }
  // "uint32", "array of string".
  std::string TypeName() const;

  // Nothing where the value is of another kind.
  std::optional<uint64_t> AsUnsigned() const;  // any integer type, not negative
  std::optional<int64_t> AsSigned() const;     // any integer type that fits
  std::optional<double> AsFloat() const;       // float32 or float64
  std::optional<bool> AsBool() const;
  std::optional<std::string_view> AsString() const;
  std::optional<GgufStrings> AsStrings() const;

  // Element `index` (< count) of an array of integers, floats or bools, as a scalar value.
  GgufValue Element(uint64_t index) const;
};

struct GgufEntry {
  std::string_view key;
  GgufValue value;
};

class GgufMetadata {
 public:
  GgufMetadata() = default;
  // Throws ERROR_INVALID_DATA when a key occurs twice.
  GgufMetadata(std::vector<GgufEntry> entries, std::string label);

  // In file order.
  const std::vector<GgufEntry>& entries() const { return entries_; }
  const GgufValue* Find(std::string_view key) const;

  // Absent keys give nothing; a value of another type or range throws ERROR_INVALID_DATA naming key, type and value.
  std::optional<uint32_t> FindUInt32(std::string_view key) const;  // any integer type
  std::optional<uint64_t> FindUInt64(std::string_view key) const;  // any integer type
  std::optional<double> FindFloat(std::string_view key) const;     // any float type
  std::optional<bool> FindBool(std::string_view key) const;
  std::optional<std::string_view> FindString(std::string_view key) const;
  std::optional<GgufStrings> FindStrings(std::string_view key) const;

  // The same, but an absent key throws too.
  uint32_t RequireUInt32(std::string_view key) const;
  std::string_view RequireString(std::string_view key) const;

 private:
  [[noreturn]] void ThrowWrongType(std::string_view key, const GgufValue& value, std::string_view wanted) const;
  [[noreturn]] void ThrowMissing(std::string_view key) const;

  std::vector<GgufEntry> entries_;
  std::vector<uint32_t> by_key_;  // indices into entries_, sorted by key
  std::string label_;
};

}  // namespace owml
