// What the files beside a tokenizer.json add.
#include "text/tokenizer/model_folder.h"

#include <gtest/gtest.h>

#include "formats/expect_error.h"
#include "support/temporary_folder.h"
#include "text/tokenizer/small_tokenizers.h"

namespace owml::text {
namespace {

constexpr char kTokenizer[] =
    R"({"added_tokens": [{"id": 1, "content": "<s>", "special": true}, {"id": 2, "content": "</s>", "special": true},
        {"id": 3, "content": "<end>", "special": true}], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})";

TEST(ModelFolderTest, FindsSpecialTokensAndTemplate) {
  const test::TemporaryFolder folder;
  folder.Write("tokenizer.json", kTokenizer);
  folder.Write("tokenizer_config.json",
               R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "chat_template": "inside"})");
  folder.Write("generation_config.json", R"({"eos_token_id": [3, 2, 99], "bos_token_id": 1})");
  for (const auto& path : {folder.path(), folder.path() / "tokenizer.json"}) {
    const OpenedTokenizer opened = OpenTokenizer(path);
    EXPECT_EQ(opened.tokenizer->bos(), 1u);
    EXPECT_EQ(opened.tokenizer->eos(), (Ids{3, 2}));
    EXPECT_EQ(opened.chat_template, "inside");
  }
  folder.Write("chat_template.jinja", "beside");
  EXPECT_EQ(OpenTokenizer(folder.path()).chat_template, "beside");
}

TEST(ModelFolderTest, ATokenizerAloneHasNoSpecialTokens) {
  const test::TemporaryFolder folder;
  const OpenedTokenizer opened = OpenTokenizer(folder.Write("tokenizer.json", kTokenizer));
  EXPECT_EQ(opened.tokenizer->bos(), std::nullopt);
  EXPECT_TRUE(opened.tokenizer->eos().empty());
  EXPECT_TRUE(opened.chat_template.empty());
}

TEST(ModelFolderTest, DamagedCompanionsAreNamed) {
  const test::TemporaryFolder folder;
  folder.Write("tokenizer.json", kTokenizer);
  folder.Write("generation_config.json", R"({"eos_token_id": "two"})");
  test::ExpectBadData([&] { OpenTokenizer(folder.path()); }, {"generation_config.json", "eos_token_id"});
  folder.Write("tokenizer_config.json", "[");
  test::ExpectBadData([&] { OpenTokenizer(folder.path()); }, {"tokenizer_config.json"});
}

TEST(ModelFolderTest, MissingFilesAreNotFound) {
  const test::TemporaryFolder folder;
  test::ExpectError([&] { OpenTokenizer(folder.path()); }, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                    {"tokenizer.json"});
  test::ExpectError([&] { OpenTokenizer(folder.path() / "no.gguf"); }, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                    {"no.gguf"});
}

}  // namespace
}  // namespace owml::text
