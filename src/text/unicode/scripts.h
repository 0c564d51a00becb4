// Scripts: by name for regular expressions, and as the groups that the UnicodeScripts pre-tokenizer tells apart.
// Used by both.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/unicode/code_point_set.h"

namespace owml::text {

// `plain_name` as PlainPropertyName writes it. False when there is no such script.
bool FindScript(std::string_view plain_name, CodePointSet* set);

// 0 for characters that go with any script.
uint8_t SplitScript(char32_t code);

}  // namespace owml::text
