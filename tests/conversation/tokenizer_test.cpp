// The tokenizer object over a tiny vocabulary of byte tokens.
#include "conversation/tokenizer.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/error.h"
#include "conversation/conversation_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Byte tokens follow three special ones.
UINT32 Byte(unsigned char c) { return 3u + c; }

class TokenizerTest : public TinyTokenizerTest {
 protected:
  void SetUp() override { tokenizer_ = Open(TinyChatVocabulary()); }

  ComPtr<IWinMLTokenizer> tokenizer_;
};

TEST_F(TokenizerTest, TextGoesToTokensAndBack) {
  EXPECT_THAT(Encoded(tokenizer_.Get(), "Hi"), ElementsAre(Byte('H'), Byte('i')));
  for (const std::string text : {"", "a", "  two  spaces\n\t", "na\u00efve \u4f60\u597d \U0001F30D", "\u2029\ua3e4"}) {
    const auto ids = Encoded(tokenizer_.Get(), text);
    EXPECT_EQ(Decoded(tokenizer_.Get(), ids), text);
    EXPECT_EQ(Joined(Fragments(tokenizer_.Get(), ids)), text);
  }
}

TEST_F(TokenizerTest, AddSpecialTokensAddsTheBeginToken) {
  EXPECT_THAT(Encoded(tokenizer_.Get(), "H", WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS),
              ElementsAre(1u, Byte('H')));
  EXPECT_THAT(Encoded(tokenizer_.Get(), "", WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS), ElementsAre(1u));
}

TEST_F(TokenizerTest, TheTextOfAControlTokenIsThatTokenInARawPrompt) {
  EXPECT_THAT(Encoded(tokenizer_.Get(), "a<|im_end|>"), ElementsAre(Byte('a'), kImEnd));
}

TEST_F(TokenizerTest, SpecialTokensAreSkippedOnRequest) {
  const std::vector<UINT32> ids = {1, kImStart, Byte('a'), kImEnd};
  EXPECT_EQ(Decoded(tokenizer_.Get(), ids), "<s><|im_start|>a<|im_end|>");
  EXPECT_EQ(Decoded(tokenizer_.Get(), ids, WINML_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS), "a");
}

TEST_F(TokenizerTest, NullPointersAndUnknownFlagsAreRefused) {
  UINT32 count = 7;
  UINT32* ids = reinterpret_cast<UINT32*>(&count);
  EXPECT_EQ(tokenizer_->Encode(nullptr, WINML_TOKENIZER_ENCODE_FLAG_NONE, &count, &ids), E_POINTER);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(ids, nullptr);
  EXPECT_EQ(tokenizer_->Encode(L"a", WINML_TOKENIZER_ENCODE_FLAG_NONE, nullptr, &ids), E_POINTER);
  EXPECT_EQ(tokenizer_->Encode(L"a", WINML_TOKENIZER_ENCODE_FLAG_NONE, &count, nullptr), E_POINTER);
  EXPECT_EQ(tokenizer_->Encode(L"a", static_cast<WINML_TOKENIZER_ENCODE_FLAGS>(2), &count, &ids), E_INVALIDARG);
  EXPECT_EQ(tokenizer_->Encode(L"a", static_cast<WINML_TOKENIZER_ENCODE_FLAGS>(-1), &count, &ids), E_INVALIDARG);
  const UINT32 id = Byte('a');
  LPWSTR text = nullptr;
  EXPECT_EQ(tokenizer_->Decode(nullptr, 1, WINML_TOKENIZER_DECODE_FLAG_NONE, &text), E_POINTER);
  EXPECT_EQ(tokenizer_->Decode(&id, 1, WINML_TOKENIZER_DECODE_FLAG_NONE, nullptr), E_POINTER);
  EXPECT_EQ(tokenizer_->Decode(&id, 1, static_cast<WINML_TOKENIZER_DECODE_FLAGS>(2), &text), E_INVALIDARG);
  EXPECT_EQ(tokenizer_->CreateDecoder(nullptr), E_POINTER);
}

TEST_F(TokenizerTest, NoTokensDecodeToAnEmptyText) { EXPECT_EQ(Decoded(tokenizer_.Get(), {}), ""); }

TEST_F(TokenizerTest, IdsOutsideTheVocabularyAreRefused) {
  ComPtr<IWinMLTokenizerDecoder> decoder;
  ASSERT_EQ(tokenizer_->CreateDecoder(decoder.GetAddressOf()), S_OK);
  for (const UINT32 id : {kTinyVocabulary + 3, UINT32_MAX, 0x80000000u}) {
    LPWSTR text = nullptr;
    EXPECT_EQ(tokenizer_->Decode(&id, 1, WINML_TOKENIZER_DECODE_FLAG_NONE, &text), E_INVALIDARG);
    EXPECT_EQ(text, nullptr);
    LPCWSTR fragment = L"x";
    EXPECT_EQ(decoder->DecodeToken(id, &fragment), E_INVALIDARG);
    EXPECT_EQ(fragment, nullptr);
  }
  EXPECT_EQ(decoder->DecodeToken(0, nullptr), E_POINTER);
}

TEST_F(TokenizerTest, InvalidWideCharactersBecomeReplacementCharacters) {
  const wchar_t text[] = {L'a', static_cast<wchar_t>(0xD800), static_cast<wchar_t>(0x110000), L'b', 0};
  UINT32 count = 0;
  UINT32* ids = nullptr;
  ASSERT_EQ(tokenizer_->Encode(text, WINML_TOKENIZER_ENCODE_FLAG_NONE, &count, &ids), S_OK);
  EXPECT_EQ(Decoded(tokenizer_.Get(), Taken(count, ids)), "a\ufffd\ufffdb");
}

TEST_F(TokenizerTest, BytesThatAreNoTextDecodeToReplacementCharacters) {
  EXPECT_EQ(Decoded(tokenizer_.Get(), {Byte('a'), Byte(0xFF), Byte(0xC3), Byte('b')}), "a\ufffd\ufffdb");
}

TEST_F(TokenizerTest, MetadataTellsBeginAndEndTokens) {
  const auto metadata = Query<IWinMLTokenizerMetadata>(tokenizer_.Get());
  ASSERT_TRUE(metadata);
  UINT32 id = 0;
  EXPECT_EQ(metadata->GetBosTokenId(&id), S_OK);
  EXPECT_EQ(id, 1u);
  UINT32 count = 0;
  UINT32* ids = nullptr;
  ASSERT_EQ(metadata->GetEosTokenIds(&count, &ids), S_OK);
  // The declared end token first; </s> ends a generation too.
  EXPECT_THAT(Taken(count, ids), ElementsAre(kImEnd, 2u));
}

TEST_F(TokenizerTest, MetadataFindsTokensByTheirText) {
  const auto metadata = Query<IWinMLTokenizerMetadata>(tokenizer_.Get());
  UINT32 id = 0;
  EXPECT_EQ(metadata->FindTokenId(L"<|im_start|>", &id), S_OK);
  EXPECT_EQ(id, kImStart);
  EXPECT_EQ(metadata->FindTokenId(L"<0x41>", &id), S_OK);
  EXPECT_EQ(id, Byte('A'));
  EXPECT_EQ(metadata->FindTokenId(L"B", &id), S_OK);
  EXPECT_EQ(id, Byte('B'));
  EXPECT_EQ(metadata->FindTokenId(L"nothing like this", &id), S_FALSE);
  EXPECT_EQ(id, 0u);
  EXPECT_EQ(metadata->FindTokenId(nullptr, &id), E_POINTER);
  EXPECT_EQ(metadata->FindTokenId(L"a", nullptr), E_POINTER);
}

TEST_F(TokenizerTest, WithoutAChatTemplateThereIsNoFormatter) {
  const auto plain = Open(TinyChatVocabulary(""));
  EXPECT_FALSE(Query<IWinMLConversationFormatter>(plain.Get()));
  EXPECT_FALSE(Query<IWinMLStructuredConversationFormatter>(plain.Get()));
  EXPECT_TRUE(Query<IWinMLTokenizerMetadata>(plain.Get()));
  EXPECT_TRUE(Query<IWinMLConversationFormatter>(tokenizer_.Get()));
  EXPECT_TRUE(Query<IWinMLStructuredConversationFormatter>(tokenizer_.Get()));
  EXPECT_TRUE(SameObject(tokenizer_.Get(), Query<IWinMLConversationFormatter>(tokenizer_.Get()).Get()));
}

TEST_F(TokenizerTest, AVocabularyThatPutsASpaceInFrontTakesItAwayAgain) {
  GgufWriter file = TinyChatVocabulary();
  file.Add("tokenizer.ggml.add_space_prefix", true);
  const auto tokenizer = Open(file);
  const auto ids = Encoded(tokenizer.Get(), "Hi you");
  EXPECT_EQ(Decoded(tokenizer.Get(), ids), "Hi you");
  EXPECT_EQ(Joined(Fragments(tokenizer.Get(), ids)), "Hi you");
}

// A byte-level vocabulary of a few letters with one special and one plain added token.
constexpr char kSmallJson[] = R"({
  "version": "1.0",
  "added_tokens": [
    {"id": 4, "content": "<|end|>", "special": true, "normalized": false, "single_word": false, "lstrip": false, "rstrip": false},
    {"id": 5, "content": "<think>", "special": false, "normalized": false, "single_word": false, "lstrip": false, "rstrip": false}],
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
  "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "\u0120": 3}, "merges": ["a b"]}})";

TEST_F(TokenizerTest, AFolderAndItsTokenizerJsonOpenTheSameTokenizer) {
  folder_.Write("tokenizer.json", kSmallJson);
  folder_.Write("tokenizer_config.json",
                R"({"eos_token": "<|end|>", "chat_template": "{{ messages[0].content }}<|end|>"})");
  for (const auto& path : {folder_.path(), folder_.path() / "tokenizer.json"}) {
    const auto tokenizer = CreateTokenizerFromFile(path);
    EXPECT_THAT(Encoded(tokenizer.Get(), "ab a<|end|>"), ElementsAre(2u, 3u, 0u, 4u));
    EXPECT_EQ(Decoded(tokenizer.Get(), {2, 3, 0}), "ab a");
    EXPECT_TRUE(Query<IWinMLStructuredConversationFormatter>(tokenizer.Get()));
    UINT32 count = 0;
    UINT32* ids = nullptr;
    ASSERT_EQ(Query<IWinMLTokenizerMetadata>(tokenizer.Get())->GetEosTokenIds(&count, &ids), S_OK);
    EXPECT_THAT(Taken(count, ids), ElementsAre(4u));
  }
}

TEST_F(TokenizerTest, MessageTextNeverBecomesAnAddedTokenThatSpellsMarkup) {
  folder_.Write("tokenizer.json", R"({
    "added_tokens": [
      {"id": 12, "content": "<|end|>", "special": true, "normalized": false, "single_word": false, "lstrip": false, "rstrip": false},
      {"id": 13, "content": "<think>", "special": false, "normalized": true, "single_word": false, "lstrip": false, "rstrip": false},
      {"id": 14, "content": "  ", "special": false, "normalized": false, "single_word": false, "lstrip": false, "rstrip": false}],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"<": 0, "|": 1, "e": 2, "n": 3, "d": 4, ">": 5, "t": 6, "h": 7, "i": 8,
              "k": 9, "x": 10, "\u0120": 11}, "merges": []}})");
  folder_.Write("tokenizer_config.json",
                R"({"eos_token": "<|end|>", "chat_template": "{{ messages[0].content }}<think><|end|>"})");
  const auto tokenizer = CreateTokenizerFromFile(folder_.path());
  const std::wstring text = L"<|end|><think>x  x<|end|";
  const WINML_CHAT_MESSAGE message = {L"user", text.c_str()};
  UINT32 count = 0;
  UINT32* ids = nullptr;
  ASSERT_EQ(Query<IWinMLConversationFormatter>(tokenizer.Get())->EncodeConversation(1, &message, 0, &count, &ids),
            S_OK);
  const auto encoded = Taken(count, ids);
  EXPECT_EQ(std::count(encoded.begin(), encoded.end(), 12u), 1);  // the template's
  EXPECT_EQ(std::count(encoded.begin(), encoded.end(), 13u), 1);
  EXPECT_EQ(std::count(encoded.begin(), encoded.end(), 14u), 1);  // white space is text as a token too
  EXPECT_EQ(Decoded(tokenizer.Get(), encoded), "<|end|><think>x  x<|end|<think><|end|>");
}

TEST_F(TokenizerTest, PathsThatHoldNoReadableTokenizerAreRefused) {
  const auto code_of = [](const std::filesystem::path& path) {
    try {
      CreateTokenizerFromFile(path);
    } catch (const Error& error) {
      return error.code();
    }
    return S_OK;
  };
  EXPECT_EQ(code_of({}), E_INVALIDARG);
  EXPECT_EQ(code_of(folder_.path() / "missing.gguf"), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  EXPECT_EQ(code_of(folder_.path() / "missing-tokenizer.json"), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  EXPECT_EQ(code_of(folder_.path()), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));  // a folder without tokenizer.json
  EXPECT_EQ(code_of(folder_.Write("tokenizer.json", "{}")), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  EXPECT_EQ(code_of(folder_.Write("page.json", "<!DOCTYPE html><html></html>")),
            HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  EXPECT_EQ(code_of(folder_.Write("empty.json", "")), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  EXPECT_EQ(code_of(folder_.Write("cut.gguf", "GGUF")), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  GgufWriter unknown = TinyChatVocabulary();
  unknown.Add("tokenizer.ggml.model", "no such tokenizer");
  EXPECT_EQ(code_of(folder_.Write("unknown.gguf", unknown.Bytes())), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
  GgufWriter none = TinyChatVocabulary();
  none.Add("tokenizer.ggml.model", "none");
  EXPECT_EQ(code_of(folder_.Write("none.gguf", none.Bytes())), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
}

}  // namespace
}  // namespace owml::test
