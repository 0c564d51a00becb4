// Streaming decode: whole characters at once, never half of one.
#include "conversation/tokenizer_decoder.h"

#include <gmock/gmock.h>

#include "conversation/conversation_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;

TEST(Utf8StreamTest, ACharacterComesWithItsLastByte) {
  Utf8Stream stream;
  EXPECT_EQ(stream.Take("a\xF0\x9F"), "a");
  EXPECT_EQ(stream.Take("\x8C"), "");
  EXPECT_EQ(stream.Take("\x8D"), "\U0001F30D");
  EXPECT_EQ(stream.Take("\u00e9b"), "\u00e9b");
}

TEST(Utf8StreamTest, NothingWholeIsHeldBack) {
  Utf8Stream stream;
  EXPECT_EQ(stream.Take("ab\u4f60\xE5"), "ab\u4f60");
}

TEST(Utf8StreamTest, BytesOutsideACharacterBecomeReplacementsAtOnce) {
  Utf8Stream stream;
  EXPECT_EQ(stream.Take("\x80"), "\ufffd");
  EXPECT_EQ(stream.Take("\xC3"), "");
  EXPECT_EQ(stream.Take("a"), "\ufffd\x61");
  EXPECT_EQ(stream.Take("\xE0\x80"), "\ufffd\ufffd");            // overlong
  EXPECT_EQ(stream.Take("\xED\xA0\x80"), "\ufffd\ufffd\ufffd");  // a surrogate
  EXPECT_EQ(stream.Take("\xF4\x90"), "\ufffd\ufffd");            // above U+10FFFF
}

class TokenizerDecoderTest : public TinyTokenizerTest {};

TEST_F(TokenizerDecoderTest, FragmentsAreWholeCharacters) {
  const auto tokenizer = Open(TinyChatVocabulary());
  EXPECT_THAT(Fragments(tokenizer.Get(), Encoded(tokenizer.Get(), "a\u00e9\U0001F30D!")),
              ElementsAre("a", "", "\u00e9", "", "", "", "\U0001F30D", "!"));
}

TEST_F(TokenizerDecoderTest, ControlTokensHaveNoText) {
  const auto tokenizer = Open(TinyChatVocabulary());
  EXPECT_THAT(Fragments(tokenizer.Get(), {1, kImStart, 3 + 'a', kImEnd}), ElementsAre("", "", "a", ""));
}

TEST_F(TokenizerDecoderTest, ResetForgetsTheBeginningOfACharacter) {
  const auto tokenizer = Open(TinyChatVocabulary());
  ComPtr<IWinMLTokenizerDecoder> decoder;
  ASSERT_EQ(tokenizer->CreateDecoder(decoder.GetAddressOf()), S_OK);
  LPCWSTR text = nullptr;
  ASSERT_EQ(decoder->DecodeToken(3 + 0xC3, &text), S_OK);
  EXPECT_STREQ(text, L"");
  ASSERT_EQ(decoder->Reset(), S_OK);
  ASSERT_EQ(decoder->DecodeToken(3 + 'a', &text), S_OK);
  EXPECT_STREQ(text, L"a");
}

TEST_F(TokenizerDecoderTest, DecodersOfOneTokenizerAreIndependentAndOutliveIt) {
  auto tokenizer = Open(TinyChatVocabulary());
  ComPtr<IWinMLTokenizerDecoder> a, b;
  ASSERT_EQ(tokenizer->CreateDecoder(a.GetAddressOf()), S_OK);
  ASSERT_EQ(tokenizer->CreateDecoder(b.GetAddressOf()), S_OK);
  tokenizer.Reset();
  LPCWSTR text = nullptr;
  ASSERT_EQ(a->DecodeToken(3 + 0xC3, &text), S_OK);
  ASSERT_EQ(b->DecodeToken(3 + 'x', &text), S_OK);
  EXPECT_STREQ(text, L"x");
  ASSERT_EQ(a->DecodeToken(3 + 0xA9, &text), S_OK);
  EXPECT_STREQ(text, L"\u00e9");
}

}  // namespace
}  // namespace owml::test
