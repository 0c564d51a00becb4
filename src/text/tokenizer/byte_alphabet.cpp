// Both ways of writing single bytes in a vocabulary.
// Called by byte-level steps, models and readers.
#include "text/tokenizer/byte_alphabet.h"

#include <array>

#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

// Bytes that are no printable Latin-1 character stand at U+0100 and above, in order.
struct Alphabet {
  std::array<char32_t, 256> characters = {};
  std::array<int16_t, 0x180> bytes = {};

  constexpr Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      characters[byte] = printable ? byte : next++;
      bytes[characters[byte]] = static_cast<int16_t>(byte);
    }
  }
};

constexpr Alphabet kAlphabet;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
  return -1;
}

}  // namespace

char32_t ByteCharacter(uint8_t byte) { return kAlphabet.characters[byte]; }

int CharacterByte(char32_t code) { return code < kAlphabet.bytes.size() ? kAlphabet.bytes[code] : -1; }

bool FromByteAlphabet(std::string_view text, std::string* bytes) {
  bytes->clear();
  for (size_t at = 0; at < text.size();) {
    const Character character = DecodeCharacter(text, at);
    const int byte = CharacterByte(character.code);
    if (byte < 0) return false;
    bytes->push_back(static_cast<char>(byte));
    at += character.length;
  }
  return true;
}

std::string ToByteAlphabet(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 4);
  for (const char byte : bytes) AppendCharacter(&text, ByteCharacter(static_cast<uint8_t>(byte)));
  return text;
}

int ByteOfFallbackToken(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  const int high = HexDigit(token[3]);
  const int low = HexDigit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::string FallbackToken(uint8_t byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
}

}  // namespace owml::text
