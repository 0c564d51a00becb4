// The parsed form of a regular expression and its parser.
// Used by the compiler of regular expressions only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode/code_point_set.h"

namespace owml::text {

struct RegexNode {
  enum class Kind : uint8_t {
    kEmpty,
    kSet,         // one character of `set`
    kConcat,      // `children` one after the other
    kAlternate,   // the first of `children` that leads to a match
    kRepeat,      // children[0], `minimum` to `maximum` times
    kAtomic,      // children[0], without going back into it
    kLookahead,   // children[0] follows; or not, with `negated`
    kLookbehind,  // children[0] precedes; or not, with `negated`
    kAssertion,
  };
  enum class Greed : uint8_t { kGreedy, kLazy, kPossessive };
  enum class Assertion : uint8_t {
    kLineStart,
    kLineEnd,
    kTextStart,
    kTextEnd,
    kLastLineEnd,
    kWordBorder,
    kNoWordBorder
  };

  Kind kind = Kind::kEmpty;
  CodePointSet set;
  std::vector<std::unique_ptr<RegexNode>> children;
  uint32_t minimum = 0;
  uint32_t maximum = 0;  // kRegexUnbounded: no limit
  Greed greed = Greed::kGreedy;
  bool negated = false;
  Assertion assertion = Assertion::kTextStart;
};

inline constexpr uint32_t kRegexUnbounded = UINT32_MAX;
inline constexpr uint32_t kRegexMaxRepeat = 100000;  // as in Oniguruma
inline constexpr int kRegexMaxDepth = 200;

// Throws as Regex::Compile does.
std::unique_ptr<RegexNode> ParseRegex(std::string_view pattern, const std::string& label);

}  // namespace owml::text
