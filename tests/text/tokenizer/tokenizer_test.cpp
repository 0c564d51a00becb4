// Added tokens, spans and streams on small vocabularies.
#include "text/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <thread>

#include "text/tokenizer/small_tokenizers.h"
#include "text/tokenizer/streaming_decoder.h"

namespace owml::text {
namespace {

std::string Added(const std::string& content, const std::string& flags, bool special) {
  return R"({"id": 0, "content": ")" + content + R"(", "normalized": false, "special": )" +
         (special ? "true" : "false") + flags + "}";
}

std::shared_ptr<const Tokenizer> WithAdded() {
  return FromJson(BpeJson(R"({"a": 0, "b": 1, " ": 2, "ab": 3, "<": 4, "s": 5, ">": 6})", R"(["a b"])",
                          R"("added_tokens": [)" + Added("<s>", "", true) + ", " +
                              Added("<r>", R"(, "rstrip": true)", true) + ", " +
                              Added("bb", R"(, "single_word": true)", false) + "],"));
}

TEST(TokenizerTest, MergesInTheOrderOfRanks) {
  const auto tokenizer =
      FromJson(BpeJson(R"({"a": 0, "b": 1, "c": 2, "bc": 3, "ab": 4})", R"([["b", "c"], ["a", "b"]])"));
  EXPECT_EQ(tokenizer->Encode("abc", {}), (Ids{0, 3}));
  EXPECT_EQ(tokenizer->Encode("ab", {}), (Ids{4}));
}

TEST(TokenizerTest, RecognisesAddedTokensOnlyWhereAsked) {
  const auto tokenizer = WithAdded();
  EXPECT_EQ(tokenizer->Encode("a<s>b", {}), (Ids{0, 7, 1}));
  EXPECT_EQ(tokenizer->Encode("a<s>b", {.added_tokens = AddedTokenUse::kNotSpecial}), (Ids{0, 4, 5, 6, 1}));
  EXPECT_EQ(tokenizer->Encode("a<s>b bb", {.added_tokens = AddedTokenUse::kNone}), (Ids{0, 4, 5, 6, 1, 2, 1, 1}));
}

TEST(TokenizerTest, AddedTokensTakeSpaceAndMindWords) {
  const auto tokenizer = WithAdded();
  EXPECT_EQ(tokenizer->Encode("a<r>  b", {}), (Ids{0, 8, 1}));
  EXPECT_EQ(tokenizer->Encode("bb abb", {}), (Ids{9, 2, 3, 1}));
}

TEST(TokenizerTest, SpansPointIntoTheText) {
  const auto tokenizer = WithAdded();
  std::vector<Span> spans;
  tokenizer->Encode("ab<r>  b", {}, &spans);
  EXPECT_EQ(spans, (std::vector<Span>{{0, 2}, {2, 7}, {7, 8}}));
  // Each byte of a character stands for all of it.
  FromJson(ByteLevelJson())->Encode("x\u00e9", {}, &spans);
  EXPECT_EQ(spans, (std::vector<Span>{{0, 1}, {1, 3}, {1, 3}}));
}

TEST(TokenizerTest, FindsTokensByTheirSpelling) {
  const auto tokenizer = FromJson(ByteLevelJson());
  EXPECT_EQ(tokenizer->Find("\u0120\u0120"), 266u);
  EXPECT_EQ(tokenizer->Spelling(266), "\u0120\u0120");
  EXPECT_EQ(tokenizer->Bytes(266), "  ");
  EXPECT_EQ(tokenizer->Find("nothing"), std::nullopt);
}

TEST(StreamingDecoderTest, GivesWholeCharactersAtOnce) {
  StreamingDecoder decoder(FromJson(ByteLevelJson()), true);
  EXPECT_EQ(decoder.Step('h'), "h");
  EXPECT_EQ(decoder.Step(0xF0), "");
  EXPECT_EQ(decoder.Step(0x9F), "");
  EXPECT_EQ(decoder.Step(0x98), "");
  EXPECT_EQ(decoder.Step(0x8A), "\U0001F60A");
  EXPECT_EQ(decoder.Step(0xC3), "");
  EXPECT_EQ(decoder.Step('x'), "\uFFFDx");  // the byte before can no longer become a character
  EXPECT_EQ(decoder.Step(0xE4), "");
  EXPECT_EQ(decoder.Finish(), "\uFFFD");
  EXPECT_EQ(decoder.Step('y'), "y");
}

TEST(StreamingDecoderTest, DropsOneSpaceAtTheStartOfSentencePieceText) {
  const auto tokenizer = FromJson(BpeJson(
      R"({"\u2581": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3})", "[]",
      R"("decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
          {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},)"));
  StreamingDecoder decoder(tokenizer, true);
  std::string text;
  for (const uint32_t id : {0, 0, 1, 2, 3, 0}) text += decoder.Step(id);
  EXPECT_EQ(text, " a\u00e9 ");
  EXPECT_EQ(tokenizer->Decode(Ids{0, 0, 1, 2, 3, 0}, true), text);
}

TEST(StreamingDecoderTest, WordPiecesGetTheirSpaces) {
  const auto tokenizer = FromJson(
      R"({"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
          "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "play": 1, "##ing": 2, ".": 3}}})");
  StreamingDecoder decoder(tokenizer, true);
  EXPECT_EQ(decoder.Step(1), "play");
  EXPECT_EQ(decoder.Step(2), "ing");
  EXPECT_EQ(decoder.Step(3), ".");
  EXPECT_EQ(decoder.Step(1), " play");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(decoder.Step(1), " play");  // longer than the window
}

// Every token's text depends on its place here, and characters come in bytes.
TEST(StreamingDecoderTest, KeepsBytesTogetherBetweenTokensThatDependOnTheirPlace) {
  const auto tokenizer = FromJson(BpeJson(
      R"({"\u2581a": 0, "b": 1, "<0xE4>": 2, "<0xB8>": 3, "<0xAD>": 4})", "[]",
      R"("decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "WordPiece", "prefix": "##"}]},)"));
  Ids ids = {0};
  for (int i = 0; i < 20; ++i) ids.insert(ids.end(), {2, 3, 4});
  ids.insert(ids.end(), {1, 0});
  StreamingDecoder decoder(tokenizer, true);
  std::string text;
  for (const uint32_t id : ids) text += decoder.Step(id);
  EXPECT_EQ(text + decoder.Finish(), tokenizer->Decode(ids, true));
  EXPECT_EQ(decoder.Step(2), "");
  EXPECT_EQ(decoder.Step(3), "");
  EXPECT_EQ(decoder.Step(4), "\u4E2D");
  EXPECT_EQ(decoder.Step(2), "");
  EXPECT_EQ(decoder.Finish(), "\uFFFD");
}

TEST(StreamingDecoderTest, DoesNotRepeatARunOfBytesThatNoWindowHolds) {
  const auto tokenizer = FromJson(
      BpeJson(R"({"<0x41>": 0, "b": 1})", "[]",
              R"("decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Metaspace"}]},)"));
  StreamingDecoder decoder(tokenizer, true);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(decoder.Step(0), "A");
  EXPECT_EQ(decoder.Step(1), "b");
}

TEST(TokenizerTest, SeveralThreadsMayEncodeAtOnce) {
  const auto tokenizer = FromJson(ByteLevelJson());
  const Ids expected = tokenizer->Encode("aaaa b  c", {});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) EXPECT_EQ(tokenizer->Encode("aaaa b  c", {}), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace owml::text
