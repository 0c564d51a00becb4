// Token ids of the vocabularies that llama.cpp's sources carry. Their expected ids were written by Hugging Face's
// tokenizers, so they do not depend on the code under test.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "conversation/conversation_fixture.h"

namespace owml::test {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + separator.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

class TokenizerGoldenTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(OWML_LLAMA_DATA_DIR).empty())
      GTEST_SKIP() << "llama.cpp's vocabularies were not fetched (tools/bootstrap)";
    path_ = std::string(OWML_LLAMA_DATA_DIR) + "/ggml-vocab-" + GetParam() + ".gguf";
  }

  std::string path_;
};

TEST_P(TokenizerGoldenTest, IdsEqualTheReference) {
  const auto tokenizer = CreateTokenizerFromFile(path_);
  const auto texts = Split(ReadAll(path_ + ".inp"), "\n__ggml_vocab_test__\n");
  const auto lines = Split(ReadAll(path_ + ".out"), "\n");
  ASSERT_GT(texts.size(), 20u);
  ASSERT_GE(lines.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    std::istringstream numbers(lines[i]);
    std::vector<UINT32> expected;
    for (UINT32 id; numbers >> id;) expected.push_back(id);
    EXPECT_EQ(Encoded(tokenizer.Get(), texts[i]), expected) << "text " << i << ": '" << texts[i] << "'";
  }
}

TEST_P(TokenizerGoldenTest, StreamedTextEqualsDecodedText) {
  const auto tokenizer = CreateTokenizerFromFile(path_);
  for (const std::string& text : Split(ReadAll(path_ + ".inp"), "\n__ggml_vocab_test__\n")) {
    const auto ids = Encoded(tokenizer.Get(), text);
    const auto fragments = Fragments(tokenizer.Get(), ids);
    EXPECT_EQ(Joined(fragments), Decoded(tokenizer.Get(), ids, WINML_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS));
  }
}

// Texts without borders are the worst case of the splitting rules, some of which recurse for each character.
TEST_P(TokenizerGoldenTest, LongTextsWithoutBordersNeitherCrashNorTakeForever) {
  const auto tokenizer = CreateTokenizerFromFile(path_);
  for (const std::string unit : {"a", " ", "\n", "7", "!", "\u4f60", "word "}) {
    std::string text;
    while (text.size() < 30000) text += unit;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(Encoded(tokenizer.Get(), text).empty());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << "of '" << unit << "'";
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, TokenizerGoldenTest,
                         testing::Values("command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4", "gpt-2",
                                         "llama-bpe", "llama-spm", "mpt", "phi-3", "qwen2", "qwen35", "refact",
                                         "starcoder"),
                         [](const auto& vocabulary) {
                           std::string name = vocabulary.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace owml::test
