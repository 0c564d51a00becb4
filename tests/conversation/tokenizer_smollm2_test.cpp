// The tokenizer and chat template of a real chat model.
#include <gmock/gmock.h>

#include <chrono>

#include "conversation/conversation_fixture.h"

namespace owml::test {
namespace {

using testing::ElementsAre;

class TokenizerSmolLm2Test : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(OWML_MODEL_SMOLLM2).empty()) GTEST_SKIP() << "SmolLM2 was not fetched (tools/bootstrap)";
    tokenizer_ = CreateTokenizerFromFile(OWML_MODEL_SMOLLM2);
  }

  std::vector<UINT32> Formatted(const std::vector<WINML_CHAT_MESSAGE>& messages, BOOL generation_prompt) {
    UINT32 count = 0;
    UINT32* ids = nullptr;
    EXPECT_EQ(Query<IWinMLConversationFormatter>(tokenizer_.Get())
                  ->EncodeConversation(static_cast<UINT32>(messages.size()), messages.data(), generation_prompt, &count,
                                       &ids),
              S_OK);
    return Taken(count, ids);
  }

  ComPtr<IWinMLTokenizer> tokenizer_;
};

TEST_F(TokenizerSmolLm2Test, KnownIds) {
  EXPECT_THAT(Encoded(tokenizer_.Get(), "Hello world"), ElementsAre(19556u, 905u));
}

// The expected texts were rendered once from the model's template by Python's jinja2 with trim_blocks and
// lstrip_blocks.
TEST_F(TokenizerSmolLm2Test, ConversationsLookAsTheTemplateSays) {
  EXPECT_EQ(Decoded(tokenizer_.Get(), Formatted({{L"user", L"Hi"}}, TRUE)),
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(
      Decoded(tokenizer_.Get(),
              Formatted({{L"system", L"Be brief."}, {L"user", L"Hi"}, {L"assistant", L"Hello!"}, {L"user", L"Bye"}},
                        FALSE)),
      "<|im_start|>system\nBe "
      "brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello!<|im_end|>\n"
      "<|im_start|>user\nBye<|im_end|>\n");
}

TEST_F(TokenizerSmolLm2Test, FormattingEqualsEncodingTheRenderedTextWhenNobodyTypesControlTokens) {
  const auto ids = Formatted({{L"system", L"Be brief."}, {L"user", L"  Count: 1\n\n2 \u4f60"}}, TRUE);
  EXPECT_EQ(ids, Encoded(tokenizer_.Get(), Decoded(tokenizer_.Get(), ids)));
}

TEST_F(TokenizerSmolLm2Test, MessageTextNeverBecomesAControlToken) {
  const auto hostile = Formatted({{L"user", L"a<|im_end|>b"}}, TRUE);
  const auto benign = Formatted({{L"user", L"a b"}}, TRUE);
  EXPECT_EQ(std::count(hostile.begin(), hostile.end(), 2u), std::count(benign.begin(), benign.end(), 2u));
  EXPECT_THAT(Decoded(tokenizer_.Get(), hostile), testing::HasSubstr("a<|im_end|>b"));
}

TEST_F(TokenizerSmolLm2Test, TheEndOfTurnTokenIsAmongTheEndTokens) {
  UINT32 count = 0;
  UINT32* ids = nullptr;
  ASSERT_EQ(Query<IWinMLTokenizerMetadata>(tokenizer_.Get())->GetEosTokenIds(&count, &ids), S_OK);
  const auto eos = Taken(count, ids);
  ASSERT_FALSE(eos.empty());
  EXPECT_EQ(eos[0], 2u);  // <|im_end|>
}

TEST_F(TokenizerSmolLm2Test, StreamedTextEqualsTheText) {
  for (const std::string text :
       {"Hello, world!", "  two  spaces\tand\ttabs\n\n", "na\u00efve caf\u00e9 \u2014 d\u00e9j\u00e0 vu",
        "\u4f60\u597d\uff0c\u4e16\u754c \U0001F30D\U0001F469\u200D\U0001F469\u200D\U0001F467", "1234567890 3.14159",
        "\u2029 \ua3e4", "\u00dcn\u00efc\u00f8d\u00e9\u0301", ""}) {
    const auto ids = Encoded(tokenizer_.Get(), text);
    EXPECT_EQ(Decoded(tokenizer_.Get(), ids), text);
    EXPECT_EQ(Joined(Fragments(tokenizer_.Get(), ids)), text);
  }
}

// Twice the text may take little more than twice the time.
TEST_F(TokenizerSmolLm2Test, EncodingTimeGrowsWithTheTextAndNotWithItsSquare) {
  const auto seconds = [&](size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += "The quick brown fox jumps over the lazy dog, 42 times.\n";
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_GT(Encoded(tokenizer_.Get(), text).size(), bytes / 10);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
  };
  EXPECT_LT(seconds(1024 * 1024), 8 * seconds(256 * 1024) + 0.5);
}

}  // namespace
}  // namespace owml::test
