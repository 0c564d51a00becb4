// Decoding of characters of two and more bytes, and validation.
// Called through utf8.h.
#include "text/unicode/utf8.h"

#include <cstring>

namespace owml::text {

int CharacterLength(std::string_view bytes) {
  const auto lead = static_cast<uint8_t>(bytes[0]);
  if (lead < 0x80) return 1;
  int length = 0;
  uint8_t low = 0x80;  // of the second byte
  uint8_t high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;   // no overlong forms
    if (lead == 0xED) high = 0x9F;  // no surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;  // up to U+10FFFF
  } else {
    return -1;
  }
  for (int i = 1; i < length; ++i) {
    if (static_cast<size_t>(i) >= bytes.size()) return 0;
    const auto byte = static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
    if (byte < low || byte > high) return -i;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

Character internal::DecodeLongCharacter(std::string_view text, size_t at) {
  const std::string_view bytes = text.substr(at);
  const int length = CharacterLength(bytes);
  if (length <= 0) {
    return {kReplacementCharacter, length == 0 ? static_cast<uint32_t>(bytes.size()) : static_cast<uint32_t>(-length)};
  }
  const auto byte = [&bytes](size_t i) { return static_cast<char32_t>(static_cast<uint8_t>(bytes[i])); };
  switch (length) {
    case 2:
      return {(byte(0) & 0x1F) << 6 | (byte(1) & 0x3F), 2};
    case 3:
      return {(byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
    default:
      return {(byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
  }
}

size_t ValidPrefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    uint64_t block;
    if (at + sizeof(block) <= text.size()) {
      std::memcpy(&block, text.data() + at, sizeof(block));
      if ((block & 0x8080808080808080u) == 0) {
        at += sizeof(block);
        continue;
      }
    }
    const int length = CharacterLength(text.substr(at));
    if (length <= 0) return at;
    at += static_cast<size_t>(length);
  }
  return at;
}

std::string Repaired(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size());
  for (;;) {
    const size_t valid = ValidPrefix(text);
    repaired.append(text.substr(0, valid));
    if (valid == text.size()) return repaired;
    AppendCharacter(&repaired, kReplacementCharacter);
    text.remove_prefix(valid + DecodeCharacter(text, valid).length);
  }
}

}  // namespace owml::text
