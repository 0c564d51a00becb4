// Malformed UTF-8 and the walk backwards.
#include "text/unicode/utf8.h"

#include <gtest/gtest.h>

namespace owml::text {
namespace {

TEST(Utf8Test, EachMaximalSubpartBecomesOneReplacement) {
  EXPECT_EQ(Repaired("a\xE4\xBD\xFFz"), "a\uFFFD\uFFFDz");    // two of three bytes, then one that never fits
  EXPECT_EQ(Repaired("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(Repaired("\xF0\x9F\x98"), "\uFFFD");              // an emoji without its last byte
  EXPECT_EQ(Repaired("\xC0\x80"), "\uFFFD\uFFFD");            // an overlong zero
  EXPECT_EQ(Repaired("Caf\u00e9 \U0001F60A"), "Caf\u00e9 \U0001F60A");
}

TEST(Utf8Test, IncompleteCharactersMayStillBeCompleted) {
  EXPECT_EQ(CharacterLength("\xF0\x9F\x98"), 0);
  EXPECT_EQ(CharacterLength("\xF0\x9F\x98\x8A"), 4);
  EXPECT_EQ(CharacterLength("\xF0\x9F\x41"), -2);
}

TEST(Utf8Test, FindsTheCharacterBefore) {
  const std::string text = "a\u00e9\u4f60\U0001F60A";
  EXPECT_EQ(PreviousCharacter(text, text.size()), 6u);
  EXPECT_EQ(PreviousCharacter(text, 6), 3u);
  EXPECT_EQ(PreviousCharacter(text, 3), 1u);
  EXPECT_EQ(PreviousCharacter(text, 1), 0u);
}

}  // namespace
}  // namespace owml::text
