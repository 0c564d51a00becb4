// The sets of characters that a pattern names: classes in brackets, escapes, Unicode properties.
// Used by the parser of patterns.
#pragma once

#include <map>
#include <string>

#include "text/constraint/pattern_text.h"
#include "text/unicode/code_point_set.h"

namespace owml::text {

const CodePointSet& WordCharacters();  // \w
const CodePointSet& LineEnds();        // what '.' leaves out

class PatternClassReader {
 public:
  explicit PatternClassReader(PatternText* text) : text_(*text) {}

  // Behind '['.
  CodePointSet Class();
  // Behind a backslash. Inside a class "\b" is a character.
  CodePointSet Escape(bool in_class);

 private:
  // One member of a class; `whole` when it is a class itself.
  CodePointSet Atom(bool* whole);
  char32_t Hex(int digits);
  char32_t UnicodeEscape();
  CodePointSet Property(bool negated);

  PatternText& text_;
  std::map<std::string, CodePointSet> properties_;  // finding one takes a while
};

}  // namespace owml::text
