// GGUF vocabularies against the ids that llama.cpp's sources carry; Hugging Face's tokenizers wrote them.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/expect_error.h"
#include "support/gguf_writer.h"
#include "text/tokenizer/model_folder.h"
#include "text/tokenizer/small_tokenizers.h"
#include "text/tokenizer/streaming_decoder.h"
#include "text/tokenizer/tokenizer_gguf.h"

namespace owml::text {
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

class GgufGoldenTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(OWML_LLAMA_DATA_DIR).empty())
      GTEST_SKIP() << "llama.cpp's vocabularies were not fetched (tools/bootstrap)";
    path_ = std::string(OWML_LLAMA_DATA_DIR) + "/ggml-vocab-" + GetParam() + ".gguf";
  }

  std::string path_;
};

TEST_P(GgufGoldenTest, IdsEqualTheReferenceAndDecodeToTheText) {
  const auto tokenizer = OpenTokenizer(path_).tokenizer;
  const auto texts = Split(ReadAll(path_ + ".inp"), "\n__ggml_vocab_test__\n");
  const auto lines = Split(ReadAll(path_ + ".out"), "\n");
  ASSERT_GT(texts.size(), 20u);
  ASSERT_GE(lines.size(), texts.size());
  const bool loses_text = std::string(GetParam()) == "bert-bge";  // lower case, white space
  for (size_t i = 0; i < texts.size(); ++i) {
    std::istringstream numbers(lines[i]);
    Ids expected;
    for (uint32_t id; numbers >> id;) expected.push_back(id);
    const Ids ids = tokenizer->Encode(texts[i], {});
    EXPECT_EQ(ids, expected) << "text " << i << ": '" << texts[i] << "'";
    const std::string decoded = tokenizer->Decode(ids, false);
    if (!loses_text) {
      EXPECT_EQ(decoded, texts[i]);
    }
    StreamingDecoder decoder(tokenizer, false);
    std::string streamed;
    for (const uint32_t id : ids) streamed += decoder.Step(id);
    EXPECT_EQ(streamed, decoded);
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, GgufGoldenTest,
                         testing::Values("bert-bge", "command-r", "deepseek-coder", "deepseek-llm", "falcon", "gemma-4",
                                         "gpt-2", "llama-bpe", "llama-spm", "mpt", "phi-3", "qwen2", "qwen35", "refact",
                                         "starcoder"),
                         [](const auto& vocabulary) {
                           std::string name = vocabulary.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

class GgufPlainTest : public testing::TestWithParam<const char*> {};

TEST_P(GgufPlainTest, OpensAndComesBackToTheText) {
  if (std::string(OWML_LLAMA_DATA_DIR).empty())
    GTEST_SKIP() << "llama.cpp's vocabularies were not fetched (tools/bootstrap)";
  const auto tokenizer =
      OpenTokenizer(std::string(OWML_LLAMA_DATA_DIR) + "/ggml-vocab-" + GetParam() + ".gguf").tokenizer;
  const std::string text = "Hello world, this is a test 123";
  EXPECT_EQ(tokenizer->Decode(tokenizer->Encode(text, {}), true), text);
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, GgufPlainTest,
                         testing::Values("aquila", "baichuan", "gpt-neox", "nomic-bert-moe"),
                         [](const auto& vocabulary) {
                           std::string name = vocabulary.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

std::shared_ptr<const Tokenizer> FromGguf(const test::GgufWriter& writer) {
  const std::string bytes = writer.Bytes();
  const GgufFile file = GgufFile::Parse(test::AsBytes(bytes), "m.gguf");
  return std::make_shared<const Tokenizer>(ReadTokenizerGguf(file));
}

test::GgufWriter SentencePiece() {
  test::GgufWriter writer;
  writer.Add("tokenizer.ggml.model", "llama")
      .Add("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "<s>", "</s>", "\u2581", "a", "b", "\u2581a",
                                                             "ab", "<0xC3>", "<0xA9>", "[", "]"})
      .Add("tokenizer.ggml.scores", std::vector<float>{0, 0, 0, -5, -4, -4, -1, -2, 0, 0, -9, -9})
      .Add("tokenizer.ggml.token_type", std::vector<int32_t>{2, 3, 3, 1, 1, 1, 1, 1, 6, 6, 1, 1})
      .Add("tokenizer.ggml.bos_token_id", uint32_t{1})
      .Add("tokenizer.ggml.eos_token_id", uint32_t{2});
  return writer;
}

TEST(TokenizerGgufTest, SentencePieceTextsBeginWithASpaceAndFallBackToBytes) {
  const auto tokenizer = FromGguf(SentencePiece());
  EXPECT_EQ(tokenizer->Encode("ab", {}), (Ids{6, 5}));  // the space joins first: its score is higher
  EXPECT_EQ(tokenizer->Encode("ab", {.add_special_tokens = true}), (Ids{1, 6, 5}));
  EXPECT_EQ(tokenizer->Encode("\u00e9", {}), (Ids{3, 8, 9}));
  EXPECT_EQ(tokenizer->Encode("\u4f60\u597d", {}), (Ids{3, 0}));  // unknown characters in a row are one
  EXPECT_EQ(tokenizer->eos(), (Ids{2}));
}

TEST(TokenizerGgufTest, ASpaceBehindASpecialTokenStays) {
  const auto tokenizer = FromGguf(SentencePiece());
  EXPECT_EQ(tokenizer->Encode("<s>a", {}), (Ids{1, 6}));
  EXPECT_EQ(tokenizer->Encode("<s> a", {}), (Ids{1, 3, 6}));
}

TEST(TokenizerGgufTest, TextNeverBecomesAControlTokenUnlessAsked) {
  const auto tokenizer = FromGguf(SentencePiece());
  for (const uint32_t id : tokenizer->Encode("a<s></s>", {.added_tokens = AddedTokenUse::kNotSpecial})) {
    EXPECT_TRUE(id != 1 && id != 2);
  }
}

TEST(TokenizerGgufTest, DamagedVocabulariesAreRefused) {
  test::ExpectBadData([] { FromGguf(SentencePiece().Remove("tokenizer.ggml.tokens")); },
                      {"m.gguf", "tokenizer.ggml.tokens"});
  test::ExpectBadData([] { FromGguf(SentencePiece().Add("tokenizer.ggml.scores", std::vector<float>{1})); },
                      {"scores", "12"});
  test::ExpectBadData([] { FromGguf(SentencePiece().Add("tokenizer.ggml.model", "gpt2")); }, {"merges"});
  test::ExpectError([] { FromGguf(SentencePiece().Add("tokenizer.ggml.model", "rwkv")); },
                    HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), {"rwkv"});
  test::ExpectError(
      [] { FromGguf(SentencePiece().Add("tokenizer.ggml.model", "gpt2").Add("tokenizer.ggml.pre", "new-kind")); },
      HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), {"tokenizer.ggml.pre", "new-kind"});
}

}  // namespace
}  // namespace owml::text
