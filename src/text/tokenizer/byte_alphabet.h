// The alphabet of byte-level vocabularies: a printable character for each byte.
// Used by the byte-level steps and by the readers of such vocabularies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace owml::text {

// The character that stands for a byte.
char32_t ByteCharacter(uint8_t byte);
// The byte that a character stands for, or -1.
int CharacterByte(char32_t code);

// The bytes that `text` spells; false when a character of it is not in the alphabet. `bytes` must not be part of
// `text`.
bool FromByteAlphabet(std::string_view text, std::string* bytes);
std::string ToByteAlphabet(std::string_view bytes);

// The byte of a token "<0x0A>", or -1: two digits, upper or lower case, and nothing else.
int ByteOfFallbackToken(std::string_view token);
// "<0x0A>".
std::string FallbackToken(uint8_t byte);

}  // namespace owml::text
