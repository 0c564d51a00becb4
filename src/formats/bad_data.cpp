// Sentences for damaged files, with foreign text made harmless.
// Called by the format readers.
#include "formats/bad_data.h"

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace owml {
namespace {

// Bytes of the well-formed UTF-8 sequence at the start of `text`; 0 when there is none.
size_t Utf8SequenceLength(std::string_view text) {
  const auto at = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  if (lead < 0x80) return 1;
  size_t length = 0;
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (at(i) < (i == 1 ? low : 0x80) || at(i) > (i == 1 ? high : 0xBF)) return 0;
  }
  return length;
}

}  // namespace

void ThrowBadData(const std::string& label, const std::string& sentence) {
  throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), label + ": " + sentence);
}

std::string Quoted(std::string_view text) {
  constexpr size_t kLongest = 72;
  constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "'";
  while (!text.empty()) {
    if (quoted.size() > kLongest) {
      quoted += "...";
      break;
    }
    const size_t length = Utf8SequenceLength(text);
    const auto lead = static_cast<uint8_t>(text[0]);
    if (length > 1 || (length == 1 && lead >= 0x20 && lead != 0x7F)) {
      quoted.append(text.substr(0, length));
      text.remove_prefix(length);
    } else {
      quoted += {'\\', 'x', kHex[lead >> 4], kHex[lead & 15]};
      text.remove_prefix(1);
    }
  }
  return quoted + "'";
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace owml
