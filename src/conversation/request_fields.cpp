// Sentences about fields.
// See request_fields.h.
#include "conversation/request_fields.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

// Far above any conversation; a bound for numbers from outside.
constexpr UINT32 kMaxItems = 1u << 20;
constexpr int kDeepestJson = 64;

}  // namespace

void FieldNotSupported(const std::string& what) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), what + " is not supported");
}

void RequireAbsent(LPCWSTR text, const std::string& field) {
  if (text) FieldNotSupported(field);
}

void RequireEnum(int value, int highest, const std::string& field) {
  if (value < 0 || value > highest)
    throw Error(E_INVALIDARG, field + " is " + std::to_string(value) + ", an unknown value");
}

void CheckArray(const void* items, UINT32 count, const std::string& field) {
  if (count > 0 && !items) throw Error(E_POINTER, field + " is null with a count of " + std::to_string(count));
  if (count > kMaxItems)
    throw Error(E_INVALIDARG, std::to_string(count) + " " + field + " are more than " + std::to_string(kMaxItems));
}

std::string RequiredText(LPCWSTR text, const std::string& field) {
  RequirePointer(text, field.c_str());
  return ToUtf8(text);
}

std::string OptionalText(LPCWSTR text) { return text ? ToUtf8(text) : std::string(); }

std::optional<nlohmann::ordered_json> ParseJson(const std::string& text) {
  bool deep = false;
  const auto limit_depth = [&](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json&) {
    deep |= depth > kDeepestJson;
    return !deep;
  };
  auto parsed = nlohmann::ordered_json::parse(text, limit_depth, /*allow_exceptions=*/false);
  if (deep || parsed.is_discarded()) return std::nullopt;
  return parsed;
}

nlohmann::ordered_json RequiredJsonObject(LPCWSTR text, const std::string& field) {
  auto parsed = ParseJson(RequiredText(text, field));
  if (!parsed || !parsed->is_object()) {
    throw Error(E_INVALIDARG, field + " is no JSON object with at most " + std::to_string(kDeepestJson) + " levels");
  }
  return *std::move(parsed);
}

void RequireNoExtensions(LPCWSTR text, const std::string& field) {
  if (!text) return;
  const auto extensions = RequiredJsonObject(text, field);
  if (!extensions.empty()) FieldNotSupported(field + ": the extension '" + extensions.begin().key() + "'");
}

}  // namespace owml
