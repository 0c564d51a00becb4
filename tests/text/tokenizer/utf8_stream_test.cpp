// Bytes in, whole characters out.
#include "text/tokenizer/utf8_stream.h"

#include <gtest/gtest.h>

namespace owml::test {
namespace {

std::string Taken(text::Utf8Stream* stream, std::string_view bytes) {
  std::string taken;
  stream->Take(bytes, &taken);
  return taken;
}

TEST(Utf8StreamTest, ACharacterComesWithItsLastByte) {
  text::Utf8Stream stream;
  EXPECT_EQ(Taken(&stream, "a\xF0\x9F"), "a");
  EXPECT_EQ(Taken(&stream, "\x8C"), "");
  EXPECT_EQ(Taken(&stream, "\x8D"), "\U0001F30D");
  EXPECT_EQ(Taken(&stream, "\u00e9b"), "\u00e9b");
}

TEST(Utf8StreamTest, NothingWholeIsHeldBack) {
  text::Utf8Stream stream;
  EXPECT_EQ(Taken(&stream, "ab\u4f60\xE5"), "ab\u4f60");
}

TEST(Utf8StreamTest, BytesOutsideACharacterBecomeReplacementsAtOnce) {
  text::Utf8Stream stream;
  EXPECT_EQ(Taken(&stream, "\x80"), "\ufffd");
  EXPECT_EQ(Taken(&stream, "\xC3"), "");
  EXPECT_EQ(Taken(&stream, "a"), "\ufffd\x61");
  EXPECT_EQ(Taken(&stream, "\xE0\x80"), "\ufffd\ufffd");            // overlong
  EXPECT_EQ(Taken(&stream, "\xED\xA0\x80"), "\ufffd\ufffd\ufffd");  // a surrogate
  EXPECT_EQ(Taken(&stream, "\xF4\x90"), "\ufffd\ufffd");            // above U+10FFFF
}

TEST(Utf8StreamTest, TheEndCompletesNothing) {
  text::Utf8Stream stream;
  std::string rest = Taken(&stream, "a\xE4\xBD");
  stream.Flush(&rest);
  EXPECT_EQ(rest, "a\ufffd");
}

}  // namespace
}  // namespace owml::test
