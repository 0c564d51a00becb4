// What --json prints: one object, keys in the order in which they were added.
// Used by every command.
#pragma once

#include <nlohmann/json.hpp>

namespace owml::cli {

using Json = nlohmann::ordered_json;

// Indented, on standard output; broken UTF-8 in values becomes U+FFFD.
void PrintJson(const Json& object);

// As one compact line of text.
std::string CompactJson(const Json& value);

}  // namespace owml::cli
