// How format readers report a damaged or hostile file: one error code, one sentence that names file, field and value.
// Used by every reader in this folder and by the checks that adapters run before they hand a file on.
#pragma once

#include <string>
#include <string_view>

namespace owml {

// Throws Error with ERROR_INVALID_DATA: "<label>: <sentence>". `label` is ModelSource::label() or the like.
[[noreturn]] void ThrowBadData(const std::string& label, const std::string& sentence);

// Text from a file made fit for a message: in single quotes, valid UTF-8, no control characters, at most about 80
// bytes.
std::string Quoted(std::string_view text);

// True when `text` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view text);

}  // namespace owml
