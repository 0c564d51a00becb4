// Text from outside must be UTF-8: command-line arguments and standard input.
// The public API takes wide text, which would hide a broken byte.
#pragma once

#include <string>

namespace owml::cli {

// The position of the first byte that is no UTF-8; the size of the text when there is none.
size_t FirstBrokenByte(const std::string& text);

// Throws Failure: "`what` is not valid UTF-8 (byte 4)".
void RequireUtf8(const std::string& text, const std::string& what);

}  // namespace owml::cli
