// Walks the fields of one protobuf message without building it; every announced length is checked against what is
// there. Used by the ONNX header reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/byte_reader.h"

namespace owml {

class ProtobufReader {
 public:
  enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  // `message` and `label` must outlive the reader; `base` is the message's offset in the file, for sentences.
  ProtobufReader(std::span<const std::byte> message, const std::string& label, uint64_t base = 0)
      : reader_(message), label_(label), base_(base) {}

  // Steps to the next field; false at the end. Throws ERROR_INVALID_DATA on a damaged message.
  bool Next();

  uint32_t field() const { return field_; }

  // The current field's value; each throws ERROR_INVALID_DATA when the field has another wire type. `what` names the
  // field.
  uint64_t Varint(const char* what) const;
  int64_t Int64(const char* what) const { return static_cast<int64_t>(Varint(what)); }
  std::span<const std::byte> Bytes(const char* what) const;
  std::string_view Text(const char* what) const { return AsText(Bytes(what)); }
  // A nested message.
  ProtobufReader Message(const char* what) const;

  // A repeated number: one value, or a packed run of them. Calls `take(uint64_t)` for each.
  template <typename Take>
  void Varints(const char* what, Take take) const {
    if (wire_ == Wire::kVarint) {
      take(number_);
      return;
    }
    ByteReader packed(Bytes(what));
    while (packed.remaining() > 0) take(ReadVarint(&packed));
  }

 private:
  uint64_t ReadVarint(ByteReader* reader) const;
  [[noreturn]] void Bad(const std::string& sentence) const;
  void Expect(Wire wire, const char* what) const;

  ByteReader reader_;
  const std::string& label_;
  uint64_t base_;
  uint32_t field_ = 0;
  Wire wire_ = Wire::kVarint;
  uint64_t number_ = 0;
  std::span<const std::byte> bytes_;
  uint64_t bytes_base_ = 0;
};

}  // namespace owml
