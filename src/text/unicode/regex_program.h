// The compiled form of a regular expression: instructions for a backtracking matcher, and classes of characters made
// for quick tests. Written by the compiler, walked by RegexMatcher.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text/unicode/classes.h"
#include "text/unicode/code_point_set.h"
#include "text/unicode/regex_syntax.h"

namespace owml::text {

// A set of characters: a bit for each ASCII character; above, whole categories where that is exact, else ranges.
class CharacterClass {
 public:
  explicit CharacterClass(const CodePointSet& set);

  bool HasAscii(uint8_t code) const { return (ascii_[code >> 6] >> (code & 63)) & 1; }
  bool Has(char32_t code, const CharacterTable& categories) const {
    if (code < 0x80) return HasAscii(static_cast<uint8_t>(code));
    return by_category_ ? (mask_ >> categories[code]) & 1 : InRanges(code);
  }

 private:
  bool InRanges(char32_t code) const;

  std::array<uint64_t, 2> ascii_ = {};
  bool by_category_ = false;
  uint32_t mask_ = 0;
  CodePointSet ranges_;  // without ASCII
};

inline constexpr uint32_t kNoClass = UINT32_MAX;

struct RegexInstruction {
  enum class Op : uint8_t {
    kSet,         // one character of class `a`
    kLoop,        // `minimum` to `maximum` characters of class `a`
    kFork,        // go to `a`, later to `b`; entered only where the next character is in the classes `first`
    kJump,        // to `a`
    kMark,        // position to register `a`
    kProgress,    // fails when nothing was taken since register `a`
    kAtomic,      // instructions to `a`, where the next follow, without going back into them
    kLookahead,   // the same, at the end of which the position returns
    kLookbehind,  // the same, started `minimum` characters before
    kAssertion,
    kEnd,  // of the program, or of the inside of the three above
  };

  Op op = Op::kEnd;
  RegexNode::Greed greed = RegexNode::Greed::kGreedy;
  RegexNode::Assertion assertion = RegexNode::Assertion::kTextStart;
  bool negated = false;
  uint32_t a = 0;
  uint32_t b = 0;
  std::array<uint32_t, 2> first = {kNoClass, kNoClass};  // of both ways of a fork
  uint32_t minimum = 0;
  uint32_t maximum = 0;
};

class RegexProgram {
 public:
  std::vector<RegexInstruction> code;
  std::vector<CharacterClass> classes;
  uint32_t registers = 0;
  uint32_t first = kNoClass;  // a match begins with one of these

  // The text itself, instead of code.
  bool literal = false;
  std::string text;
};

// Throws as Regex::Compile does.
std::shared_ptr<const RegexProgram> CompileRegex(std::string_view pattern, const std::string& label);

}  // namespace owml::text
