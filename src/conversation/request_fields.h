// Checks of single fields of requests, with sentences that name them.
// Called by the reader of conversation requests.
#pragma once

#include <unknwn.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace owml {

[[noreturn]] void FieldNotSupported(const std::string& what);

// ERROR_NOT_SUPPORTED when the field is set.
void RequireAbsent(LPCWSTR text, const std::string& field);

void RequireEnum(int value, int highest, const std::string& field);
void CheckArray(const void* items, UINT32 count, const std::string& field);

std::string RequiredText(LPCWSTR text, const std::string& field);
std::string OptionalText(LPCWSTR text);

// The parsed value when the text is JSON with at most 64 levels.
std::optional<nlohmann::ordered_json> ParseJson(const std::string& text);

// E_INVALIDARG when the text is no JSON object.
nlohmann::ordered_json RequiredJsonObject(LPCWSTR text, const std::string& field);

// Extensions that nobody knows are refused by their name; an empty object is none.
void RequireNoExtensions(LPCWSTR text, const std::string& field);

}  // namespace owml
