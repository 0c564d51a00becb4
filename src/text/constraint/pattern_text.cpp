// Decoding a pattern, once.
// Called by the parser of patterns and the reader of character classes.
#include "text/constraint/pattern_text.h"

#include "base/error.h"
#include "text/constraint/pattern.h"
#include "text/unicode/utf8.h"

namespace owml::text {

PatternText::PatternText(std::string_view source, const std::string& where) : source_(source), where_(where) {
  if (source_.size() > Pattern::kLongest) {
    throw Error(E_INVALIDARG, where_ + ": a pattern of " + std::to_string(source_.size()) + " bytes is longer than " +
                                  std::to_string(Pattern::kLongest));
  }
  if (ValidPrefix(source_) < source_.size()) throw Error(E_INVALIDARG, where_ + ": a pattern is no valid UTF-8");
  for (size_t at = 0; at < source_.size();) {
    const Character character = DecodeCharacter(source_, at);
    at += character.length;
    characters_.push_back(character.code);
  }
}

bool PatternText::Take(char32_t code) {
  if (Peek() != code) return false;
  ++at_;
  return true;
}

char32_t PatternText::Next() {
  if (AtEnd()) Fail("ends too early");
  return characters_[at_++];
}

void PatternText::Fail(const std::string& what) const {
  std::string shown(source_.substr(0, 200));
  shown.resize(ValidPrefix(shown));
  throw Error(E_INVALIDARG,
              where_ + ": the pattern \"" + shown + "\" " + what + ", at character " + std::to_string(at_));
}

}  // namespace owml::text
