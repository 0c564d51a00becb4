// Case tables and their lookup.
// Called through cases.h.
#include "text/unicode/cases.h"

#include <algorithm>
#include <cstdint>

#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

#include "text/unicode/cases.inc"

char32_t Find(std::span<const CasePair> table, char32_t code) {
  const auto found = std::lower_bound(table.begin(), table.end(), code,
                                      [](const CasePair& pair, char32_t wanted) { return pair.from < wanted; });
  return found != table.end() && found->from == code ? found->to : code;
}

}  // namespace

void AppendLower(std::string* text, char32_t code) {
  if (code < 0x80) {
    text->push_back(static_cast<char>(code >= 'A' && code <= 'Z' ? code + 32 : code));
  } else if (code == 0x130) {
    text->append("i\u0307");
  } else {
    AppendCharacter(text, Find(kLower, code));
  }
}

char32_t Fold(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  return Find(kFold, code);
}

std::span<const CasePair> Folds() { return kFold; }

}  // namespace owml::text
