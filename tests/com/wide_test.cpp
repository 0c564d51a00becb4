// UTF-8 to wide and back at the edge of the library.
// Anything may come in; nothing but text goes out.
#include "com/wide.h"

#include <gtest/gtest.h>

namespace owml::test {
namespace {

TEST(Wide, TextComesBackUnchanged) {
  for (const char* text : {"", "plain", "caf\xC3\xA9", "\xE6\xA8\xA1\xE5\x9E\x8B", "\xF0\x9F\x98\x80 smile"}) {
    EXPECT_EQ(ToUtf8(ToWide(text)), text);
  }
  EXPECT_EQ(ToWide("\xF0\x9F\x98\x80"), L"\U0001F600");
  EXPECT_EQ(ToUtf8(L"terminated"), "terminated");
}

TEST(Wide, EmbeddedZerosStay) {
  EXPECT_EQ(ToUtf8(std::wstring_view(L"a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(ToWide(std::string_view("a\0b", 3)), std::wstring(L"a\0b", 3));
}

TEST(Wide, WhatIsNoTextIsReplaced) {
  EXPECT_EQ(ToWide("a\xFF"), L"a\uFFFD");
  EXPECT_EQ(ToWide("\xC3"), L"\uFFFD") << "cut short";
  EXPECT_EQ(ToWide("\xED\xA0\x80x").back(), L'x') << "a surrogate in UTF-8";
  const wchar_t lone[] = {0xD800, L'x', 0};
  EXPECT_EQ(ToUtf8(lone), "\xEF\xBF\xBDx");
}

}  // namespace
}  // namespace owml::test
