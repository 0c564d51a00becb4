// openwinml/strings.hpp: every kind of good text comes back, every kind of bad text becomes U+FFFD.
// Part of tests_abi.
#include <gtest/gtest.h>

#include <openwinml/strings.hpp>
#include <string>
#include <string_view>

namespace {

using openwinml::FromUtf8;
using openwinml::ToUtf8;

TEST(Strings, EveryCodePointComesBackThroughBothWidths) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const std::u32string one(1, c);
    const std::string utf8 = ToUtf8<char32_t>(one);
    ASSERT_EQ(FromUtf8<char32_t>(utf8), one) << static_cast<unsigned>(c);
    ASSERT_EQ(ToUtf8<char16_t>(FromUtf8<char16_t>(utf8)), utf8) << static_cast<unsigned>(c);
  }
}

TEST(Strings, WideTextOfTheApiIsUtf8OnTheWayOut) {
  EXPECT_EQ(ToUtf8(L"Gr\u00fc\u00dfe, \u4e16\u754c \U0001F600"),
            "Gr\xC3\xBC\xC3\x9F"
            "e, \xE4\xB8\x96\xE7\x95\x8C \xF0\x9F\x98\x80");
  EXPECT_EQ(openwinml::ToWide("\xF0\x9F\x98\x80"), L"\U0001F600");
  EXPECT_EQ(ToUtf8(static_cast<const wchar_t*>(nullptr)), "");
}

TEST(Strings, EmbeddedNulIsText) {
  EXPECT_EQ(openwinml::ToWide(std::string_view("a\0b", 3)), std::wstring(L"a\0b", 3));
}

struct Bad {
  std::string_view bytes;
  std::u32string_view expected;
};

TEST(Strings, BadUtf8IsReplacedByMaximalParts) {
  static constexpr Bad kCases[] = {
      {"\x80", U"\uFFFD"},  // continuation alone
      {"a\xFF"
       "b",
       U"a\uFFFD"
       U"b"},                                             // never a byte of UTF-8
      {"\xC0\xAF", U"\uFFFD\uFFFD"},                      // overlong '/'
      {"\xE0\x80\xAF", U"\uFFFD\uFFFD\uFFFD"},            // overlong in three bytes
      {"\xED\xA0\x80", U"\uFFFD\uFFFD\uFFFD"},            // surrogate
      {"\xF4\x90\x80\x80", U"\uFFFD\uFFFD\uFFFD\uFFFD"},  // above U+10FFFF
      {"\xF0\x9F\x98", U"\uFFFD"},                        // cut short at the end
      {"\xF0\x9F\x98z", U"\uFFFDz"},                      // cut short before a letter
      {"\xE4\xB8\xC3\xBC", U"\uFFFD\u00FC"},              // cut short before a good one
  };
  for (const Bad& one : kCases)
    EXPECT_EQ(FromUtf8<char32_t>(one.bytes), one.expected) << testing::PrintToString(one.bytes);
}

TEST(Strings, LoneSurrogatesAndNumbersBeyondUnicodeAreReplaced) {
  static constexpr char16_t kHigh[] = {u'a', 0xD83D, u'b'};
  static constexpr char16_t kHighAtEnd[] = {0xD83D};
  static constexpr char16_t kSwapped[] = {0xDE00, 0xD83D};
  static constexpr char32_t kBeyond[] = {0x110000, 0xFFFFFFFF, 0xD800};
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(ToUtf8(std::u16string_view(kHigh, 3)), "a" + replaced + "b");
  EXPECT_EQ(ToUtf8(std::u16string_view(kHighAtEnd, 1)), replaced);
  EXPECT_EQ(ToUtf8(std::u16string_view(kSwapped, 2)), replaced + replaced);
  EXPECT_EQ(ToUtf8(std::u32string_view(kBeyond, 3)), replaced + replaced + replaced);
}

}  // namespace
