// One walk over the bytes: lead byte, continuation bytes, no overlong forms, no surrogates.
// Called by main() and wherever standard input is read.
#include "utf8.h"

#include <fmt/format.h>

#include "failure.h"

namespace owml::cli {
namespace {

// Bytes of the sequence that starts at `at`; 0 when it is broken.
size_t SequenceLength(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(at);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const unsigned second = byte(at + 1);
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

size_t FirstBrokenByte(const std::string& text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t length = SequenceLength(text, at);
    if (length == 0) return at;
    at += length;
  }
  return at;
}

void RequireUtf8(const std::string& text, const std::string& what) {
  const size_t broken = FirstBrokenByte(text);
  if (broken < text.size()) {
    throw Failure(fmt::format("{} is not valid UTF-8 (byte {})", what, broken + 1), E_INVALIDARG);
  }
}

}  // namespace owml::cli
