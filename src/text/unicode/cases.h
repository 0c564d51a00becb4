// Lower case and simple case folding of single characters.
// Used by the Lowercase normalizers and by regular expressions without case.
#pragma once

#include <span>
#include <string>

namespace owml::text {

// Appends the lower case of `code`: one character, except for U+0130, which has two.
void AppendLower(std::string* text, char32_t code);

// The character that stands for all that differ from `code` in case only.
char32_t Fold(char32_t code);

struct CasePair {
  char32_t from;
  char32_t to;
};

// All characters that Fold changes, sorted.
std::span<const CasePair> Folds();

}  // namespace owml::text
