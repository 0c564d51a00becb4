// Little models of every architecture with seeded weights, whole enough for llama.cpp to run them beside the engine.
// Used by the tests that compare the two, and for the seeds of the fuzz corpus.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "backend/native/random_weights.h"
#include "support/gguf_writer.h"
#include "support/tiny_llama.h"

namespace owml::test {

struct RandomModel {
  std::string name;
  std::string architecture;
  std::function<void(GgufWriter& file, const std::string& prefix)> keys = [](GgufWriter&, const std::string&) {};
  uint32_t layers = 3;
  uint32_t width = 48;
  uint32_t heads = 6;
  uint32_t kv_heads = 2;
  uint32_t head_width = 16;
  uint32_t feed_forward = 80;
  bool tied = false;
  bool qkv_bias = false;
  bool output_bias = false;
  bool feed_forward_bias = false;
  bool head_norms = false;
  bool post_norms = false;
  bool fused = false;                          // one matrix for queries, keys and values, one for gate and up
  std::vector<std::string> rope_tensors = {};  // of [rotated / 2] factors
  uint32_t seed = 1;
  GgmlType type = GgmlType::kF32;         // of matrices whose rows are whole blocks; the others are floats
  uint32_t vocabulary = kTinyVocabulary;  // with another there is no tokenizer
};

inline GgufWriter RandomModelFile(const RandomModel& model) {
  GgufWriter file = TinyLlamaMetadata();
  for (const char* key :
       {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count",
        "attention.head_count_kv", "attention.layer_norm_rms_epsilon", "rope.dimension_count"}) {
    file.Remove(std::string("llama.") + key);
  }
  const std::string prefix = model.architecture + ".";
  file.Add("general.architecture", model.architecture);
  file.Add(prefix + "block_count", model.layers).Add(prefix + "context_length", uint32_t{512});
  file.Add(prefix + "embedding_length", model.width).Add(prefix + "feed_forward_length", model.feed_forward);
  file.Add(prefix + "attention.head_count", model.heads).Add(prefix + "attention.head_count_kv", model.kv_heads);
  file.Add(prefix + "attention.key_length", model.head_width);
  file.Add(prefix + "attention.value_length", model.head_width);
  file.Add(prefix + "rope.dimension_count", model.head_width);
  file.Add(prefix + "attention.layer_norm_rms_epsilon", 1e-5f);
  if (model.vocabulary != kTinyVocabulary) {
    for (const char* key :
         {"model", "tokens", "scores", "token_type", "bos_token_id", "eos_token_id", "unknown_token_id"}) {
      file.Remove(std::string("tokenizer.ggml.") + key);
    }
    file.Add(prefix + "vocab_size", model.vocabulary);
  }
  model.keys(file, prefix);

  std::mt19937 random(model.seed);
  // Plain arithmetic instead of a distribution, so that every standard library gives the same model.
  const auto uniform = [&random] { return static_cast<float>(random() >> 8) / 16777216.0f - 0.5f; };
  const auto add = [&](const std::string& name, std::vector<uint64_t> dims, float middle, float spread) {
    uint64_t count = 1;
    for (const uint64_t extent : dims) count *= extent;
    std::vector<float> values(count);
    for (float& value : values) value = middle + spread * uniform();
    file.FloatTensor(name, dims, values);
  };
  const auto matrix = [&](const std::string& name, uint64_t columns, uint64_t rows) {
    if (model.type != GgmlType::kF32 && columns % InfoOf(model.type).block_elements == 0) {
      file.Tensor(name + ".weight", model.type, {columns, rows}, RandomWeights(model.type, columns * rows, random));
      return;
    }
    add(name + ".weight", {columns, rows}, 0, 4 / std::sqrt(static_cast<float>(columns)));
  };
  const auto norm = [&](const std::string& name, uint64_t count) { add(name + ".weight", {count}, 1, 0.8f); };
  const auto bias = [&](bool there, const std::string& name, uint64_t count) {
    if (there) add(name + ".bias", {count}, 0, 1);
  };
  const uint64_t d = model.width, q = model.heads * model.head_width, kv = model.kv_heads * model.head_width;
  const uint64_t f = model.feed_forward;
  matrix("token_embd", d, model.vocabulary);
  norm("output_norm", d);
  if (!model.tied) matrix("output", d, model.vocabulary);
  for (const std::string& name : model.rope_tensors) add(name, {model.head_width / 2}, 2, 2);
  for (uint32_t i = 0; i < model.layers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    norm(block + "attn_norm", d);
    if (model.fused) {
      matrix(block + "attn_qkv", d, q + 2 * kv);
    } else {
      matrix(block + "attn_q", d, q);
      matrix(block + "attn_k", d, kv);
      matrix(block + "attn_v", d, kv);
    }
    bias(model.qkv_bias, block + "attn_q", q);
    bias(model.qkv_bias, block + "attn_k", kv);
    bias(model.qkv_bias, block + "attn_v", kv);
    if (model.head_norms) {
      norm(block + "attn_q_norm", model.head_width);
      norm(block + "attn_k_norm", model.head_width);
    }
    matrix(block + "attn_output", q, d);
    bias(model.output_bias, block + "attn_output", d);
    norm(block + "ffn_norm", d);
    if (!model.fused) matrix(block + "ffn_gate", d, f);
    matrix(block + "ffn_up", d, model.fused ? 2 * f : f);
    matrix(block + "ffn_down", f, d);
    bias(model.feed_forward_bias, block + "ffn_gate", f);
    bias(model.feed_forward_bias, block + "ffn_up", f);
    bias(model.feed_forward_bias, block + "ffn_down", d);
    if (model.post_norms) {
      norm(block + "post_attention_norm", d);
      norm(block + "post_ffw_norm", d);
    }
  }
  return file;
}

// One of each architecture and of each way to scale positions.
inline std::vector<RandomModel> RandomModels() {
  using Keys = std::function<void(GgufWriter&, const std::string&)>;
  const Keys yarn = [](GgufWriter& file, const std::string& prefix) {
    file.Add(prefix + "rope.scaling.type", "yarn").Add(prefix + "rope.scaling.factor", 4.0f);
    file.Add(prefix + "rope.scaling.original_context_length", uint32_t{64});
  };
  const Keys linear = [](GgufWriter& file, const std::string& prefix) {
    file.Add(prefix + "rope.scaling.type", "linear").Add(prefix + "rope.scaling.factor", 2.5f);
  };
  const Keys gemma2 = [](GgufWriter& file, const std::string& prefix) {
    file.Add(prefix + "attention.sliding_window", uint32_t{20});
    file.Add(prefix + "attn_logit_softcapping", 5.0f).Add(prefix + "final_logit_softcapping", 7.0f);
  };
  const Keys gemma3 = [](GgufWriter& file, const std::string& prefix) {
    file.Add(prefix + "attention.sliding_window", uint32_t{20}).Add(prefix + "rope.freq_base", 1000000.0f);
    file.Add(prefix + "rope.scaling.type", "linear").Add(prefix + "rope.scaling.factor", 8.0f);
  };
  const Keys granite = [](GgufWriter& file, const std::string& prefix) {
    file.Add(prefix + "logit_scale", 3.0f).Add(prefix + "residual_scale", 0.4f);
    file.Add(prefix + "embedding_scale", 5.0f).Add(prefix + "attention.scale", 0.2f);
  };
  const Keys granite_without_positions = [granite](GgufWriter& file, const std::string& prefix) {
    granite(file, prefix);
    file.Add(prefix + "rope.scaling.finetuned", false);
  };
  const auto phi3 = [](uint32_t original_context) -> Keys {
    return [original_context](GgufWriter& file, const std::string& prefix) {
      file.Add(prefix + "rope.scaling.type", "longrope").Add(prefix + "rope.scaling.attn_factor", 1.19f);
      file.Add(prefix + "rope.scaling.original_context_length", original_context);
    };
  };
  const std::vector<std::string> factors = {"rope_factors_long.weight", "rope_factors_short.weight"};
  return {
      {.name = "llama", .architecture = "llama"},
      {.name = "llama_linear", .architecture = "llama", .keys = linear},
      {.name = "llama_yarn", .architecture = "llama", .keys = yarn},
      {.name = "llama3", .architecture = "llama", .tied = true, .rope_tensors = {"rope_freqs.weight"}},
      {.name = "llama_with_biases",
       .architecture = "llama",
       .qkv_bias = true,
       .output_bias = true,
       .feed_forward_bias = true},
      {.name = "qwen2", .architecture = "qwen2", .width = 96, .qkv_bias = true},
      {.name = "qwen2_yarn", .architecture = "qwen2", .keys = yarn, .width = 96, .tied = true, .qkv_bias = true},
      {.name = "qwen3", .architecture = "qwen3", .head_norms = true},
      {.name = "gemma2", .architecture = "gemma2", .keys = gemma2, .layers = 4, .tied = true, .post_norms = true},
      {.name = "gemma3",
       .architecture = "gemma3",
       .keys = gemma3,
       .layers = 7,
       .tied = true,
       .head_norms = true,
       .post_norms = true},
      {.name = "phi3", .architecture = "phi3", .width = 96, .fused = true},
      {.name = "phi3_long",
       .architecture = "phi3",
       .keys = phi3(64),
       .width = 96,
       .fused = true,
       .rope_tensors = factors},
      {.name = "phi3_short",
       .architecture = "phi3",
       .keys = phi3(512),
       .width = 96,
       .fused = true,
       .rope_tensors = factors},
      {.name = "granite", .architecture = "granite", .keys = granite},
      {.name = "granite_without_positions", .architecture = "granite", .keys = granite_without_positions, .tied = true},
  };
}

// Of a test's parameter.
inline constexpr auto ModelName = [](const auto& info) { return info.param.name; };

}  // namespace owml::test
