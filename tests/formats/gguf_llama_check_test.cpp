// What is refused ahead of llama.cpp, each with the key or tensor and the value.
#include "formats/gguf_llama_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formats/expect_error.h"
#include "support/tiny_llama.h"

namespace owml::test {
namespace {

constexpr char kLabel[] = "'m.gguf'";

void Check(const GgufWriter& writer) {
  const std::string bytes = writer.Bytes();
  const GgufFile file = GgufFile::Parse(AsBytes(bytes), kLabel);
  CheckModelForLlama({&file, 1});
}

void ExpectRefused(const GgufWriter& writer, std::vector<std::string> words) {
  words.push_back(kLabel);
  ExpectBadData([&] { Check(writer); }, words);
}

template <typename T>
void ExpectValueRefused(const std::string& key, const T& value, std::vector<std::string> words) {
  words.push_back(key);
  ExpectRefused(TinyLlama().Add(key, value), words);
}

TEST(GgufLlamaCheck, AcceptsACompleteModel) {
  Check(TinyLlama());
  Check(TinyLlama().Add("llama.attention.head_count_kv", std::vector<int32_t>{2, 1}));
}

TEST(GgufLlamaCheck, NeedsTheKeysOfAModel) {
  for (const char* key : {"general.architecture", "llama.block_count", "llama.context_length", "llama.embedding_length",
                          "tokenizer.ggml.model", "tokenizer.ggml.tokens"}) {
    ExpectRefused(TinyLlama().Remove(key), {key, "missing"});
  }
}

TEST(GgufLlamaCheck, BoundsTheLayerCountByTheEnginesArrays) {
  ExpectValueRefused("llama.block_count", uint32_t{513}, {"513", "512 layers"});
  ExpectValueRefused("llama.block_count", UINT32_MAX, {"4294967295"});
  ExpectValueRefused("llama.block_count", uint32_t{0}, {"0"});
}

TEST(GgufLlamaCheck, RefusesNumbersOfAnotherType) {
  ExpectValueRefused("llama.block_count", "2", {"string", "uint32"});
  ExpectValueRefused("llama.block_count", uint64_t{2}, {"uint64"});
  ExpectValueRefused("llama.embedding_length", -1, {"int32"});
  ExpectValueRefused("llama.attention.layer_norm_rms_epsilon", uint32_t{1}, {"uint32", "float"});
  ExpectValueRefused("general.architecture", uint32_t{1}, {"uint32", "string"});
}

TEST(GgufLlamaCheck, RefusesArraysOfTheWrongElementType) {
  const std::vector<std::string> words(kTinyVocabulary, "x");
  ExpectValueRefused("tokenizer.ggml.scores", words, {"array of string", "float32"});
  ExpectValueRefused("tokenizer.ggml.scores", std::vector<uint8_t>(kTinyVocabulary), {"array of uint8"});
  ExpectValueRefused("tokenizer.ggml.token_type", std::vector<float>(kTinyVocabulary), {"array of float32", "int32"});
  ExpectValueRefused("tokenizer.ggml.token_type", std::vector<int64_t>(kTinyVocabulary), {"array of int64"});
  ExpectValueRefused("tokenizer.ggml.tokens", std::vector<int32_t>(kTinyVocabulary), {"array of int32", "strings"});
  ExpectValueRefused("tokenizer.ggml.merges", std::vector<int32_t>{1}, {"array of int32", "strings"});
  ExpectValueRefused("tokenizer.ggml.scores", 1.0f, {"float32"});
}

TEST(GgufLlamaCheck, RefusesVocabularyArraysShorterThanTheTokens) {
  ExpectValueRefused("tokenizer.ggml.scores", std::vector<float>(kTinyVocabulary - 1), {"258", "259"});
  ExpectValueRefused("tokenizer.ggml.token_type", std::vector<int32_t>(3), {"3 elements", "259"});
}

TEST(GgufLlamaCheck, RefusesRepeatedTokens) {
  std::vector<std::string> tokens(kTinyVocabulary);
  tokens[5] = tokens[9] = "again";
  ExpectValueRefused("tokenizer.ggml.tokens", tokens, {"'again'", "twice"});
}

TEST(GgufLlamaCheck, RefusesSpecialTokensOfAnotherType) {
  ExpectValueRefused("tokenizer.ggml.bos_token_id", int32_t{1}, {"int32", "uint32"});
  ExpectValueRefused("tokenizer.ggml.eos_token_id", "</s>", {"string"});
  ExpectValueRefused("tokenizer.ggml.add_bos_token", uint8_t{1}, {"uint8", "bool"});
  Check(TinyLlama().Add("tokenizer.ggml.padding_token_id", UINT32_MAX));
}

TEST(GgufLlamaCheck, RefusesHeadCountsThatWouldDivideByZeroOrAbort) {
  ExpectValueRefused("llama.attention.head_count_kv", uint32_t{3}, {"3", "divide"});
  ExpectValueRefused("llama.attention.head_count", std::vector<uint32_t>{4}, {"1 elements", "2 layers"});
  ExpectValueRefused("llama.attention.head_count", std::vector<float>{4, 4}, {"float32"});
  ExpectValueRefused("llama.attention.head_count", uint32_t{64}, {"head size of 0"});
  ExpectValueRefused("llama.attention.head_count", UINT32_MAX, {"4294967295"});
  ExpectValueRefused("llama.attention.key_length", uint32_t{1} << 30, {"1073741824"});
  ExpectValueRefused("llama.rope.dimension_count", uint32_t{7}, {"7", "even"});
  ExpectValueRefused("llama.rope.dimension_count", uint32_t{16}, {"16", "head size 8"});
}

TEST(GgufLlamaCheck, RefusesExpertCountsThatDoNotGoTogether) {
  ExpectValueRefused("llama.expert_used_count", uint32_t{2}, {"2", "0 experts"});
  ExpectValueRefused("llama.expert_count", uint32_t{1025}, {"1025", "1024"});
  ExpectRefused(TinyLlama().Add("llama.expert_count", 8u), {"llama.expert_used_count", "is 0", "8 experts"});
  ExpectRefused(
      TinyLlama().Add("llama.expert_count", 8u).Add("llama.expert_used_count", 2u).Add("llama.expert_group_count", 3u),
      {"expert_group_count", "3"});
  ExpectRefused(TinyLlama().Add("llama.expert_group_count", 1u), {"expert_group_count", "0 experts"});
}

TEST(GgufLlamaCheck, RefusesFloatsOutsideTheirDomain) {
  ExpectValueRefused("llama.attention.layer_norm_rms_epsilon", -1.0f, {"not negative"});
  ExpectValueRefused("llama.attention.layer_norm_rms_epsilon", std::numeric_limits<float>::quiet_NaN(),
                     {"not negative"});
  ExpectValueRefused("llama.rope.freq_base", 0.0f, {"positive"});
  ExpectValueRefused("llama.rope.scaling.type", "spiral", {"'spiral'", "yarn"});
}

TEST(GgufLlamaCheck, RefusesAVocabularySizeThatOnlyAllocates) {
  ExpectValueRefused("llama.vocab_size", uint32_t{4000000000}, {"4000000000"});
}

TEST(GgufLlamaCheck, RefusesTensorsThatTheKernelsCannotUse) {
  ExpectRefused(TinyLlama().Tensor("extra_norm.weight", GgmlType::kF16, {32}), {"extra_norm.weight", "f16", "f32"});
  ExpectRefused(TinyLlama().Tensor("blk.0.attn_q.bias", GgmlType::kQ8_0, {32}), {"attn_q.bias", "q8_0"});
  ExpectRefused(TinyLlama().Tensor("extra.weight", GgmlType::kQ8_K, {256}), {"extra.weight", "q8_K"});
  ExpectRefused(TinyLlama().Tensor("extra.weight", GgmlType::kF32, {32, 0}), {"extra.weight", "[32, 0]"});
}

TEST(GgufLlamaCheck, NeedsTensorsPackedInOrder) {
  GgufWriter writer = TinyLlamaMetadata();
  writer.Tensor("a.weight", GgmlType::kF32, {8}, std::string(64, '\0')).Tensor("b.weight", GgmlType::kF32, {8}, {}, 64);
  writer.Tensor("c.weight", GgmlType::kF32, {8}, {}, 32);
  ExpectRefused(writer, {"'b.weight'", "offset 64", "32"});
}

TEST(GgufLlamaCheck, MergesAreStrings) { ExpectRefused(TinyLlama().Add("tokenizer.ggml.merges", 1u), {"merges"}); }

}  // namespace
}  // namespace owml::test
