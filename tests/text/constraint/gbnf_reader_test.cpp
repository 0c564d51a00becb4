// Grammars in GBNF: what they match, and what is refused with which sentence.
#include "text/constraint/gbnf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/expect_error.h"
#include "text/constraint/accepts.h"
#include "text/constraint/json_schema.h"

namespace owml::text {
namespace {

using test::ExpectError;

Acceptor Gbnf(const std::string& text) { return Acceptor("gbnf", text); }
void Refused(const std::string& text, const std::string& part) {
  ExpectError([&] { Gbnf(text); }, E_INVALIDARG, {part});
}

TEST(GbnfReaderTest, ReadsEveryPartOfTheNotation) {
  const Acceptor accepts = Gbnf(R"gbnf(
# a remark
root ::= greeting ", " name+ ( "!" | "?" ){2,3} # at the end
greeting ::= "Hello" |
  "Hi"
  | "\x48\u0065y"
name ::= [A-Z] [^A-Z\]!?]* "\"" . 
)gbnf");
  EXPECT_TRUE(accepts("Hello, Bob\"x!?"));
  EXPECT_TRUE(accepts("Hi, Bob\"xAnn\"\xE2\x82\xAC!!!"));
  EXPECT_TRUE(accepts("Hey, B\"\n??"));
  EXPECT_FALSE(accepts("Hello, Bob\"x!"));
  EXPECT_FALSE(accepts("Hello, Bob\"x!!!!"));
  EXPECT_FALSE(accepts("Hello, bob\"x!!"));
  EXPECT_FALSE(accepts("Hello, Bo]b\"x!!"));
}

TEST(GbnfReaderTest, RepetitionsMayHaveOneBoundOrTwo) {
  const Acceptor accepts = Gbnf("root ::= \"a\"{2} \"b\"{1,} \"c\"{0,2} \"d\"?");
  EXPECT_TRUE(accepts("aab"));
  EXPECT_TRUE(accepts("aabbbbccd"));
  EXPECT_FALSE(accepts("abb"));
  EXPECT_FALSE(accepts("aaabb"));
  EXPECT_FALSE(accepts("aabccc"));
}

TEST(GbnfReaderTest, ManyRepetitionsOfALongPartAreCounted) {
  const Acceptor accepts = Gbnf("root ::= (\"abc\" | \"abd\" [0-9]){5000,70000}");
  std::string text;
  for (int i = 0; i < 4999; ++i) text += i % 2 ? "abc" : "abd7";
  EXPECT_FALSE(accepts(text));
  EXPECT_TRUE(accepts(text + "abc"));
}

TEST(GbnfReaderTest, NestedRepetitionsOfWhatMayBeEmptyEnd) {
  const Acceptor accepts = Gbnf("root ::= (\"a\"*)* inner*\ninner ::= \"b\"* | \"\"");
  EXPECT_TRUE(accepts(""));
  EXPECT_TRUE(accepts("aaabbb"));
  EXPECT_FALSE(accepts("ba"));
}

TEST(GbnfReaderTest, RulesMayCallThemselvesBehindAPart) {
  const Acceptor accepts = Gbnf("root ::= \"(\" root* \")\"");
  EXPECT_TRUE(accepts("(()(()))"));
  EXPECT_FALSE(accepts("(()"));
  EXPECT_TRUE(accepts.Begins("(()"));
}

TEST(GbnfReaderTest, RightRecursionOfTwoKindsStaysCheap) {
  // Every prefix has as many readings as there are ways to choose the endings.
  const Acceptor accepts = Gbnf("root ::= \"a\" ( root \"x\" | root \"y\" )?");
  std::string text(2000, 'a');
  for (int i = 0; i < 1999; ++i) text += i % 3 ? "x" : "y";
  EXPECT_TRUE(accepts(text));
  EXPECT_FALSE(accepts(text + "x"));
}

TEST(GbnfReaderTest, AChainOf5000RulesIsFollowed) {
  std::string text = "root ::= r0\n";
  for (int i = 0; i < 5000; ++i) text += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1) + "\n";
  text += "r5000 ::= \"end\"\n";
  EXPECT_TRUE(Gbnf(text)("end"));
  // The same with something behind each call.
  text = "root ::= r0\n";
  for (int i = 0; i < 5000; ++i) text += "r" + std::to_string(i) + " ::= r" + std::to_string(i + 1) + " \"!\"?\n";
  text += "r5000 ::= \"end\"\n";
  EXPECT_TRUE(Gbnf(text)("end!!"));
}

TEST(GbnfReaderTest, LeftRecursionIsNamed) {
  Refused("root ::= root \"a\" | \"b\"", "left recursion: the rule 'root'");
  Refused("root ::= x\nx ::= y \"a\"\ny ::= \"\" x | \"b\"", "left recursion");
  Refused("root ::= maybe root \"a\" | \"b\"\nmaybe ::= \"m\"?", "left recursion: the rule 'root'");
}

TEST(GbnfReaderTest, SixtyThousandNestedGroupsAreRefused) {
  Refused("root ::= " + std::string(60000, '(') + "\"a\"" + std::string(60000, ')'), "nested more than 200 deep");
  Refused("root ::= \"a\"" + std::string(60000, '*'), "repetition marks in a row");
}

TEST(GbnfReaderTest, UndefinedRulesAreNamedWithTheirLine) {
  Refused("start ::= \"a\"", "the rule 'root' is not defined");
  Refused("", "the rule 'root' is not defined");
  Refused("root ::= \"a\"\n  | other\n", "line 2: the rule 'other' is not defined");
  Refused("root ::= \"a\"\nroot ::= \"b\"", "the rule 'root' is defined twice");
}

TEST(GbnfReaderTest, HugeRepetitionsAreRefused) {
  Refused("root ::= \"a\"{1,1000000}", "more than 100000");
  Refused("root ::= \"a\"{99999999999999999999}", "more than 100000");
  Refused("root ::= (\"a\"{0,1000} \"b\"?){0,100000}", "too large");
  Refused("root ::= (((\"\"){100000}){100000}){100000}", "too large");
  Refused("root ::= \"a\"{3,2}", "ends before it begins");
}

TEST(GbnfReaderTest, AGrammarThatNeverEndsIsRefused) { Refused("root ::= \"a\" root", "never come to an end"); }

TEST(GbnfReaderTest, BrokenTextIsRefused) {
  Refused("root ::= \"a", "ends with its line");
  Refused("root ::= [a-", "ends with its line");
  Refused("root ::= [z-a]", "ends before it begins");
  Refused("root ::= (\"a\"", "')' is expected");
  Refused("root ::= \"a\")", "a rule ends with its line");
  Refused("root = \"a\"", "'::=' is expected");
  Refused("root ::= \"\\q\"", "unknown escape");
  Refused("root ::= \"\\ud800\"", "surrogate");
  Refused("root ::= \"\\xZZ\"", "hexadecimal");
  Refused("root ::= *", "is expected");
  Refused("root ::= \"\xFF\"", "UTF-8");
  Refused("root ::= <think>", "not supported");
  Refused("root ::= %lark \"x\"", "unknown directive");
}

TEST(GbnfReaderTest, ASchemaMayStandInAGrammar) {
  const Acceptor accepts = Gbnf("root ::= \"<call>\" " +
                                JsonSchemaInGbnf("{\"type\": \"object\",\n \"properties\": {\"a\\\"b\": {\"type\": "
                                                 "\"integer\"}},\t\"additionalProperties\": false}") +
                                " \"</call>\"");
  EXPECT_TRUE(accepts(R"(<call>{"a\"b":7}</call>)"));
  EXPECT_TRUE(accepts("<call>{}</call>"));
  EXPECT_FALSE(accepts(R"(<call>{"c":7}</call>)"));
  ExpectError([] { Gbnf("root ::= " + JsonSchemaInGbnf(R"({"sometimes": 1})")); },
              HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), {"the keyword \"sometimes\""});
}

}  // namespace
}  // namespace owml::text
