// Sets of strings as JSON writes them, and the formats that are enforced.
// Used by the schema compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/constraint/automaton.h"

namespace owml::text {

// Every JSON string with its quotes, any character escaped or not.
std::shared_ptr<const Automaton> AnyJsonString();
// One character inside a JSON string, escaped or not.
std::shared_ptr<const Automaton> AnyJsonCharacter();

// The JSON strings, with quotes, whose value is in `values`. A printable ASCII character that needs no escape has none;
// others may be written as they are or escaped.
Automaton WrittenAsJson(const Automaton& values);
// One value, without freedom when all its characters are printable ASCII: see WrittenAsJson.
bool IsPlainAscii(std::string_view value);
std::string QuotedPlainAscii(std::string_view value);

// The strings in a format of JSON Schema; null for a format that is not enforced.
std::shared_ptr<const Automaton> FormatStrings(const std::string& name);

}  // namespace owml::text
