// A complete little model of the llama architecture with seeded weights: loads in llama.cpp, answers nonsense.
// Used by tests of the GGUF checks and backends, and as a seed of the fuzz corpus.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/gguf_writer.h"

namespace owml::test {

struct TinyLlamaShape {
  uint32_t blocks = 2;
  uint32_t width = 32;
  uint32_t heads = 4;
  uint32_t kv_heads = 2;
  uint32_t feed_forward = 64;
  uint32_t context = 256;
  uint32_t seed = 1;
};

// The vocabulary: <unk>, <s>, </s>, then the 256 byte tokens.
inline constexpr uint32_t kTinyVocabulary = 259;

inline GgufWriter TinyLlamaMetadata(const TinyLlamaShape& shape = {}) {
  GgufWriter file;
  file.Add("general.architecture", "llama").Add("general.name", "tiny");
  file.Add("llama.block_count", shape.blocks).Add("llama.context_length", shape.context);
  file.Add("llama.embedding_length", shape.width).Add("llama.feed_forward_length", shape.feed_forward);
  file.Add("llama.attention.head_count", shape.heads).Add("llama.attention.head_count_kv", shape.kv_heads);
  file.Add("llama.attention.layer_norm_rms_epsilon", 1e-5f)
      .Add("llama.rope.dimension_count", shape.width / shape.heads);
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {2, 3, 3};  // unknown, control, control
  std::vector<float> scores(kTinyVocabulary, 0.0f);
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
    types.push_back(6);
  }
  file.Add("tokenizer.ggml.model", "llama").Add("tokenizer.ggml.tokens", tokens);
  file.Add("tokenizer.ggml.scores", scores).Add("tokenizer.ggml.token_type", types);
  file.Add("tokenizer.ggml.bos_token_id", uint32_t{1}).Add("tokenizer.ggml.eos_token_id", uint32_t{2});
  file.Add("tokenizer.ggml.unknown_token_id", uint32_t{0});
  return file;
}

inline void AddTinyLlamaTensors(GgufWriter* file, const TinyLlamaShape& shape = {}) {
  std::mt19937 random(shape.seed);
  const auto weights = [&](const std::string& name, std::vector<uint64_t> dims) {
    uint64_t elements = 1;
    for (const uint64_t extent : dims) elements *= extent;
    std::vector<float> values(static_cast<size_t>(elements));
    // Plain arithmetic instead of a distribution, so that every standard library gives the same model.
    for (float& value : values) value = (static_cast<float>(random() >> 8) / 16777216.0f - 0.5f) * 0.5f;
    file->FloatTensor(name, dims, values);
  };
  const auto norm = [&](const std::string& name) {
    file->FloatTensor(name, {shape.width}, std::vector<float>(shape.width, 1.0f));
  };
  const uint64_t kv_width = uint64_t{shape.width} / shape.heads * shape.kv_heads;
  weights("token_embd.weight", {shape.width, kTinyVocabulary});
  norm("output_norm.weight");
  weights("output.weight", {shape.width, kTinyVocabulary});
  for (uint32_t i = 0; i < shape.blocks; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    norm(block + "attn_norm.weight");
    weights(block + "attn_q.weight", {shape.width, shape.width});
    weights(block + "attn_k.weight", {shape.width, kv_width});
    weights(block + "attn_v.weight", {shape.width, kv_width});
    weights(block + "attn_output.weight", {shape.width, shape.width});
    norm(block + "ffn_norm.weight");
    weights(block + "ffn_gate.weight", {shape.width, shape.feed_forward});
    weights(block + "ffn_down.weight", {shape.feed_forward, shape.width});
    weights(block + "ffn_up.weight", {shape.width, shape.feed_forward});
  }
}

inline GgufWriter TinyLlama(const TinyLlamaShape& shape = {}) {
  GgufWriter file = TinyLlamaMetadata(shape);
  AddTinyLlamaTensors(&file, shape);
  return file;
}

}  // namespace owml::test
