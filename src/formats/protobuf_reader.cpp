// Protobuf wire format: tags, varints, fixed numbers and length-prefixed bytes. Groups are refused; no ONNX field uses
// them. Called by the ONNX header reader.
#include "formats/protobuf_reader.h"

#include "formats/bad_data.h"

namespace owml {

bool ProtobufReader::Next() {
  if (reader_.remaining() == 0) return false;
  const uint64_t tag = ReadVarint(&reader_);
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) Bad("a protobuf field has the number " + std::to_string(tag >> 3));
  field_ = static_cast<uint32_t>(tag >> 3);
  bytes_ = {};
  number_ = 0;
  switch (tag & 7) {
    case 0:
      wire_ = Wire::kVarint;
      number_ = ReadVarint(&reader_);
      return true;
    case 1:
      wire_ = Wire::kFixed64;
      if (!reader_.Take(8)) Bad("the file ends inside protobuf field " + std::to_string(field_));
      return true;
    case 5:
      wire_ = Wire::kFixed32;
      if (!reader_.Take(4)) Bad("the file ends inside protobuf field " + std::to_string(field_));
      return true;
    case 2: {
      wire_ = Wire::kBytes;
      const uint64_t length = ReadVarint(&reader_);
      const uint64_t left = reader_.remaining();
      bytes_base_ = base_ + reader_.position();
      const auto bytes = reader_.Take(length);
      if (!bytes) {
        Bad("protobuf field " + std::to_string(field_) + " is announced as " + std::to_string(length) +
            " bytes long, but only " + std::to_string(left) + " are left");
      }
      bytes_ = *bytes;
      return true;
    }
    default:
      Bad("protobuf field " + std::to_string(field_) + " has the wire type " + std::to_string(tag & 7));
  }
}

uint64_t ProtobufReader::Varint(const char* what) const {
  Expect(Wire::kVarint, what);
  return number_;
}

std::span<const std::byte> ProtobufReader::Bytes(const char* what) const {
  Expect(Wire::kBytes, what);
  return bytes_;
}

ProtobufReader ProtobufReader::Message(const char* what) const {
  return ProtobufReader(Bytes(what), label_, bytes_base_);
}

uint64_t ProtobufReader::ReadVarint(ByteReader* reader) const {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const std::optional<uint8_t> byte = reader->Read<uint8_t>();
    if (!byte) Bad("the file ends inside a protobuf number");
    if (shift == 63 && *byte > 1) break;
    value |= uint64_t{*byte & 0x7Fu} << shift;
    if (*byte < 0x80) return value;
  }
  Bad("a protobuf number has more than 64 bits");
}

void ProtobufReader::Expect(Wire wire, const char* what) const {
  if (wire_ == wire) return;
  Bad("the field '" + std::string(what) + "' has the protobuf wire type " + std::to_string(static_cast<int>(wire_)) +
      " instead of " + std::to_string(static_cast<int>(wire)));
}

void ProtobufReader::Bad(const std::string& sentence) const {
  ThrowBadData(label_, "no valid ONNX model: at byte " + std::to_string(base_ + reader_.position()) + " " + sentence);
}

}  // namespace owml
