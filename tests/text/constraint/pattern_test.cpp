// Regular expressions: what they match, what is refused by name, and searching a text that grows.
#include "text/constraint/pattern.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "formats/expect_error.h"
#include "text/constraint/accepts.h"
#include "text/constraint/pattern_search.h"

namespace owml::text {
namespace {

using test::ExpectError;

Automaton Whole(const std::string& pattern) { return Pattern::Parse(pattern, "test").Whole(); }
Automaton Search(const std::string& pattern) { return Pattern::Parse(pattern, "test").Search(); }
void Refused(const std::string& pattern, const std::string& part) {
  ExpectError([&] { Whole(pattern); }, E_INVALIDARG, {part});
}

TEST(PatternTest, AgreesWithTheStandardLibraryOnShortTexts) {
  const char* patterns[] = {"a",       "ab|cd",    "a*b+c?",        "(a|b)*c",   "a{2,3}",    "(ab){2}",
                            "[a-c]+",  "[^ab]",    "^a|b$",         "^$",        "a|",        "(^a)*b",
                            "\\d+\\w", "x{0}",     "(a|ab)(c|bcd)", "a.c",       "(?:a|b)+?", "a{1,}",
                            "^(a|^b)", "(a$|b)c*", "^a*$",          "[\\d\\-]x", "\\.",       "a||b"};
  // Every text of up to four letters.
  const std::string letters = "abcdx1-.";
  std::vector<std::string> texts{""};
  for (size_t begin = 0, round = 0; round < 4; ++round) {
    const size_t end = texts.size();
    for (; begin < end; ++begin) {
      for (char letter : letters) texts.push_back(texts[begin] + letter);
    }
  }
  for (const char* pattern : patterns) {
    const std::regex oracle(pattern);
    const Automaton whole = Whole(pattern), search = Search(pattern);
    for (const std::string& text : texts) {
      ASSERT_EQ(whole.Accepts(text), std::regex_match(text, oracle)) << pattern << " on " << text;
      ASSERT_EQ(search.Accepts(text), std::regex_search(text, oracle)) << pattern << " in " << text;
    }
  }
}

TEST(PatternTest, CountsCharactersNotBytes) {
  EXPECT_TRUE(Whole("^.{2}$").Accepts("é😊"));
  EXPECT_TRUE(Whole("\\u{1F60A}\\ud83d\\ude0a[\\u00e9-\\u00ea]").Accepts("😊😊é"));
  EXPECT_TRUE(Whole("\\p{Lu}\\P{L}\\p{Script=Greek}").Accepts("Ä1α"));
  EXPECT_FALSE(Whole(".").Accepts("\n"));
  EXPECT_FALSE(Whole("\\d").Accepts("\u0663"));  // only ASCII digits in ECMAScript
  EXPECT_TRUE(Whole("\\s").Accepts("\u00A0"));
}

TEST(PatternTest, WhatIsNoExpressionIsRefusedWithItsPlace) {
  Refused("[a", "'[' without ']'");
  Refused("(a", "'(' without ')'");
  Refused("a)", "')' without '('");
  Refused("*a", "nothing to repeat, at character 0");
  Refused("a**", "repeats a repetition");
  Refused("a{3,2}", "at least more often than at most");
  Refused("[z-a]", "ends before it begins");
  Refused("\\", "ends too early");
  Refused("\\y", "unknown escape");
  Refused("\\xg1", "hexadecimal");
  Refused("\\u{110000}", "beyond U+10FFFF");
  Refused("\\p{Nonsense}", "unknown property \"Nonsense\"");
  Refused("(?P<a>b)", "unknown kind of group");
}

TEST(PatternTest, WhatNoAutomatonCanDoIsRefusedByName) {
  Refused("(?=a)", "look-ahead");
  Refused("(?!a)", "look-ahead");
  Refused("(?<=a)", "look-behind");
  Refused("(?<!a)", "look-behind");
  Refused("(a)\\1", "back reference");
  Refused("(?<n>a)\\k<n>", "back reference");
  Refused("\\bword", "word boundary");
}

TEST(PatternTest, HostileExpressionsAreBounded) {
  Refused(std::string(60000, '('), "nested more than");
  Refused("a{100001}", "repeats more than");
  Refused("(((((a{100}){100}){100}){100}){100})", "");
  Refused("(((((){1000}){1000}){1000}){1000})", "");
  Refused("(a|b)*a(a|b){30}", "automaton");
  Refused(std::string(200000, 'a'), "longer than");
}

TEST(PatternTest, ASearchFindsTheFirstGroupThatIsNotEmpty) {
  const auto find = [](const std::string& pattern, const std::string& text, PatternSearch::Mode mode) {
    PatternSearch search(Pattern::Parse(pattern, "test"), mode);
    // In pieces: matches may lie across them.
    for (char c : text) search.Append(std::string(1, c));
    return search.Found();
  };
  using Mode = PatternSearch::Mode;
  EXPECT_EQ(find("b", "aab", Mode::kAnywhere), 2u);
  EXPECT_EQ(find("a(b)", "aab", Mode::kAnywhere), 2u);
  EXPECT_EQ(find("a(x?)(b)", "aab", Mode::kAnywhere), 2u);
  EXPECT_EQ(find("a(x?)b", "aab", Mode::kAnywhere), 1u);
  EXPECT_EQ(find("c", "aab", Mode::kAnywhere), std::nullopt);
  EXPECT_EQ(find("^b", "ab", Mode::kAnywhere), std::nullopt);
  EXPECT_EQ(find("a", "aab", Mode::kWhole), std::nullopt);
  EXPECT_EQ(find("a*(b)", "aab", Mode::kWhole), 2u);
  EXPECT_EQ(find("[\\s\\S]*?(b)[\\s\\S]*", "aabab", Mode::kWhole), 2u);
  EXPECT_EQ(find("b$", "ab", Mode::kAnywhere), 1u);
}

TEST(PatternTest, ATriggerMayEndInALookAhead) {
  const auto find = [](const std::string& pattern, const std::string& text) {
    PatternSearch search(Pattern::ParseTrigger(pattern, "test"), PatternSearch::Mode::kAnywhere);
    search.Append(text);
    return search.Found();
  };
  EXPECT_EQ(find(">>>(?!all)", "x>>>"), std::nullopt);  // not yet known
  EXPECT_EQ(find(">>>(?!all)", "x>>>a"), std::nullopt);
  EXPECT_EQ(find(">>>(?!all)", "x>>>all"), std::nullopt);
  EXPECT_EQ(find(">>>(?!all)", "x>>>al."), 1u);
  EXPECT_EQ(find(">>>(?!all)", ">>>all >>>get"), 7u);
  EXPECT_EQ(find("a(?=b|c)", "aab"), 1u);
  ExpectError([] { Pattern::ParseTrigger("a(?!b)c", "test"); }, E_INVALIDARG, {"look-ahead before its end"});
  ExpectError([] { Pattern::ParseTrigger("a(?!b*c)", "test"); }, E_INVALIDARG, {"unlimited length"});
}

TEST(PatternTest, ARegularExpressionIsAboutTheWholeReply) {
  const Acceptor accepts("regex", "yes|no");
  EXPECT_TRUE(accepts("yes"));
  EXPECT_FALSE(accepts("yes!"));
  EXPECT_TRUE(accepts.Begins("n"));
  ExpectError([] { Acceptor("regex", "a^b"); }, E_INVALIDARG, {"no text matches"});
}

}  // namespace
}  // namespace owml::text
