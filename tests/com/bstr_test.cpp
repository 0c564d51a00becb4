// BSTR: length, terminator, embedded zeros, null.
// Called as an application calls them.
#include <gtest/gtest.h>
#include <oleauto.h>

#include <cstdint>
#include <cstring>
#include <cwchar>

namespace owml::test {
namespace {

TEST(Bstr, KeepsItsLengthAndATerminator) {
  const BSTR text = SysAllocString(L"hello");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(SysStringLen(text), 5u);
  EXPECT_STREQ(text, L"hello");
  SysFreeString(text);
}

TEST(Bstr, HoldsEmbeddedZeros) {
  const BSTR text = SysAllocStringLen(L"a\0b", 3);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(SysStringLen(text), 3u);
  EXPECT_EQ(text[2], L'b');
  EXPECT_EQ(text[3], L'\0');
  SysFreeString(text);
}

TEST(Bstr, TellsItsBytesBeforeTheFirstCharacter) {
  const BSTR text = SysAllocString(L"four");
  uint32_t bytes = 0;
  std::memcpy(&bytes, reinterpret_cast<char*>(text) - 4, 4);
  EXPECT_EQ(bytes, 4 * sizeof(WCHAR));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(text) % alignof(WCHAR), 0u);
  SysFreeString(text);
}

TEST(Bstr, NullIsAnEmptyString) {
  EXPECT_EQ(SysAllocString(nullptr), nullptr);
  EXPECT_EQ(SysStringLen(nullptr), 0u);
  SysFreeString(nullptr);
}

TEST(Bstr, LengthWithoutTextIsZeros) {
  const BSTR text = SysAllocStringLen(nullptr, 4);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(SysStringLen(text), 4u);
  for (int i = 0; i <= 4; ++i) EXPECT_EQ(text[i], L'\0');
  SysFreeString(text);
}

TEST(Bstr, ALengthBeyondItsPrefixIsRefused) { EXPECT_EQ(SysAllocStringLen(nullptr, UINT32_MAX), nullptr); }

}  // namespace
}  // namespace owml::test
