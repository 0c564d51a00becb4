// The language of the patterns in tokenizer files, and its limits.
#include "text/unicode/regex.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/expect_error.h"

namespace owml::text {
namespace {

using Strings = std::vector<std::string>;

Strings Matches(const std::string& pattern, const std::string& text) {
  const Regex regex = Regex::Compile(pattern, "test");
  RegexMatcher matcher(regex);
  matcher.Start(text);
  Strings found;
  while (const auto match = matcher.Next()) found.push_back(text.substr(match->begin, match->end - match->begin));
  return found;
}

TEST(RegexTest, TakesAlternativesInOrderAndRepeatsGreedily) {
  EXPECT_EQ(Matches("a|ab", "ab"), (Strings{"a"}));
  EXPECT_EQ(Matches("a+?b*", "aabb"), (Strings{"a", "abb"}));
  EXPECT_EQ(Matches("(?:ab){2,3}", "abababab"), (Strings{"ababab"}));
  EXPECT_EQ(Matches("x{2}|x{,1}y", "xxy"), (Strings{"xx", "y"}));
  EXPECT_EQ(Matches("a++a|a", "aaa"), (Strings{"a", "a", "a"}));
  EXPECT_EQ(Matches("(?>a|ab)c|ab", "abc"), (Strings{"ab"}));
}

TEST(RegexTest, KnowsClasses) {
  EXPECT_EQ(Matches("[\\p{L}&&[^a-c]]+", "abcdeZ\u00e9"), (Strings{"deZ\u00e9"}));
  EXPECT_EQ(Matches("[^\\s\\p{L}]+", "a 1\u2029!b"), (Strings{"1", "!"}));
  EXPECT_EQ(Matches("\\p{Han}+|\\p{^Letter}", "x\u4f60\u597d?"), (Strings{"\u4f60\u597d", "?"}));
  EXPECT_EQ(Matches("[[:punct:]]+", "a$,b"), (Strings{"$,"}));
  EXPECT_EQ(Matches("[\\]a-]+", "]-ab"), (Strings{"]-a"}));
  EXPECT_EQ(Matches("\\h+", "xFf0g"), (Strings{"Ff0"}));
}

TEST(RegexTest, IgnoresCaseWhereAsked) {
  // U+017F is an s to whoever ignores case.
  EXPECT_EQ(Matches("(?i:'s|'ll)", "'S 'lL '\u017f"), (Strings{"'S", "'lL", "'\u017f"}));
  EXPECT_EQ(Matches("a(?i)b|c", "aB aC"), (Strings{"aB", "aC"}));
  EXPECT_EQ(Matches("(?i:[k])", "\u212A"), (Strings{"\u212A"}));
}

TEST(RegexTest, LooksAround) {
  EXPECT_EQ(Matches("\\s+(?!\\S)|\\s", "a   b "), (Strings{"  ", " ", " "}));
  EXPECT_EQ(Matches("(?<=a|bc)x", "ax bcx cx"), (Strings{"x", "x"}));
  EXPECT_EQ(Matches("(?<!a)x", "ax bx"), (Strings{"x"}));
  EXPECT_EQ(Matches("\\d{1,3}(?=(?:\\d{3})*\\b)", "1234567"), (Strings{"1", "234", "567"}));
  EXPECT_EQ(Matches("^b$", "a\nb\nc"), (Strings{"b"}));
}

TEST(RegexTest, EmptyMatchesDoNotStandStill) {
  EXPECT_EQ(Matches("x*", "axb"), (Strings{"", "x", ""}));
  EXPECT_EQ(Matches("(?:a*)*b", "aab"), (Strings{"aab"}));
}

TEST(RegexTest, SaysWhatIsWrongWithAPattern) {
  for (const char* pattern : {"(", "a)", "[a", "*a", "a{3,2}", "\\p{Nothing}", "(?<=a+)b", "\\k<x>", "(?q)", "[z-a]",
                              "\\x{110000}", "\xff", "a\\"}) {
    test::ExpectBadData([&] { Regex::Compile(pattern, "file.json"); }, {"file.json", "regular expression"});
  }
}

TEST(RegexTest, DeepAndLargePatternsAreRefused) {
  test::ExpectBadData([] { Regex::Compile(std::string(60000, '(') + std::string(60000, ')'), "f"); }, {"nested"});
  test::ExpectBadData([] { Regex::Compile("((a{1000}b){1000}c){1000}", "f"); }, {"too large"});
}

TEST(RegexTest, AnExponentialPatternEndsWithAnError) {
  const Regex regex = Regex::Compile("(a+)+$b", "f");
  RegexMatcher matcher(regex);
  const std::string text(60, 'a');
  matcher.Start(text);
  test::ExpectError([&] { matcher.Next(); }, E_INVALIDARG, {"too many steps"});
}

TEST(RegexTest, LongRunsTakeLinearTime) {
  const std::string pattern = "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  for (const char unit : {'a', ' ', '7', '\n'}) {
    EXPECT_GE(Matches(pattern, std::string(2'000'000, unit) + "x").size(), 1u);
  }
}

}  // namespace
}  // namespace owml::text
