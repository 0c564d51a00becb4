// Streaming decode: whole characters at once, never half of one.
#include "conversation/tokenizer_decoder.h"

#include <gmock/gmock.h>

#include "conversation/conversation_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;

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
