// Reading and writing UTF-8 one character at a time. Malformed bytes become U+FFFD, one for each maximal subpart.
// Used by everything in src/text that looks at characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace owml::text {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

struct Character {
  char32_t code = 0;
  uint32_t length = 1;  // bytes
};

// How far `bytes` (not empty) start with one character: its length when it is whole and valid, 0 when more bytes may
// complete it, or minus the number of bytes that can be no part of one.
int CharacterLength(std::string_view bytes);

namespace internal {
Character DecodeLongCharacter(std::string_view text, size_t at);
}  // namespace internal

// The character at `at` (< text.size()); U+FFFD for malformed bytes.
inline Character DecodeCharacter(std::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  if (lead < 0x80) return {lead, 1};
  return internal::DecodeLongCharacter(text, at);
}

// The start of the character that ends before `end` (> 0), in well-formed text.
inline size_t PreviousCharacter(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

// `code` must be a scalar value.
inline void AppendCharacter(std::string* text, char32_t code) {
  if (code < 0x80) {
    text->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    text->push_back(static_cast<char>(0xC0 | (code >> 6)));
    text->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    text->push_back(static_cast<char>(0xE0 | (code >> 12)));
    text->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    text->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    text->push_back(static_cast<char>(0xF0 | (code >> 18)));
    text->push_back(static_cast<char>(0x80 | ((code >> 12) & 0x3F)));
    text->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
    text->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

inline std::string ToUtf8(char32_t code) {
  std::string text;
  AppendCharacter(&text, code);
  return text;
}

// Offset of the first malformed byte, or text.size().
size_t ValidPrefix(std::string_view text);

// A copy in which malformed bytes are U+FFFD.
std::string Repaired(std::string_view text);

}  // namespace owml::text
