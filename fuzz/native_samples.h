// Little models for the native engine, right ones and such as ask for what cannot be, and how a file of packed weights
// is made of an input. Used by the fuzz targets of the engine and by the writer of their seeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backend/native/random_models.h"

namespace owml::fuzz {

struct Sample {
  std::string name;
  std::string bytes;
};

// Small enough that mutations reach every part.
inline test::RandomModel Small(test::RandomModel model) {
  model.layers = std::min(model.layers, 2u);
  model.width = model.feed_forward = 8;
  model.heads = 2;
  model.kv_heads = 1;
  model.head_width = 4;
  model.vocabulary = 5;
  return model;
}

// Rows of whole blocks where the width is the number of columns.
inline test::RandomModel OfType(GgmlType type) {
  test::RandomModel model = Small({.name = std::string(InfoOf(type).name), .architecture = "llama", .layers = 1});
  model.type = type;
  model.width = InfoOf(type).block_elements == 256 ? 256 : 32;
  model.tied = true;
  if (model.width == 32) model.feed_forward = 32;
  return model;
}

// What no converter writes, each in a model that is right otherwise.
inline std::vector<Sample> HostileModels() {
  using Change = std::pair<const char*, std::function<void(test::GgufWriter&, const std::string&)>>;
  using test::GgufWriter;
  const std::vector<Change> changes = {
      {"experts", [](GgufWriter& file, const std::string& p) { file.Add(p + "expert_count", 2u); }},
      {"heads_by_layer",
       [](GgufWriter& file, const std::string& p) {
         file.Add(p + "attention.head_count_kv", std::vector<uint32_t>{1, 1});
       }},
      {"no_heads", [](GgufWriter& file, const std::string& p) { file.Add(p + "attention.head_count", 0u); }},
      {"many_layers", [](GgufWriter& file, const std::string& p) { file.Add(p + "block_count", 512u); }},
      {"wide", [](GgufWriter& file, const std::string& p) { file.Add(p + "embedding_length", 1u << 24); }},
      {"odd_rotation", [](GgufWriter& file, const std::string& p) { file.Add(p + "rope.dimension_count", 3u); }},
      {"yarn_without_context",
       [](GgufWriter& file, const std::string& p) {
         file.Add(p + "rope.scaling.type", "yarn").Add(p + "context_length", 0u);
       }},
      {"flat_base", [](GgufWriter& file, const std::string& p) { file.Add(p + "rope.freq_base", 1.0f); }},
      {"tiny_base", [](GgufWriter& file, const std::string& p) { file.Add(p + "rope.freq_base", 1e-300); }},
      {"huge_base", [](GgufWriter& file, const std::string& p) { file.Add(p + "rope.freq_base", 1e300); }},
      {"no_epsilon",
       [](GgufWriter& file, const std::string& p) { file.Add(p + "attention.layer_norm_rms_epsilon", NAN); }},
      {"no_vocabulary", [](GgufWriter& file, const std::string& p) { file.Add(p + "vocab_size", 0u); }},
      {"window_of_one", [](GgufWriter& file, const std::string& p) { file.Add(p + "attention.sliding_window", 1u); }},
      {"windows_by_list",
       [](GgufWriter& file, const std::string& p) {
         file.Add(p + "attention.sliding_window", 2u);
         file.Add(p + "attention.sliding_window_pattern", std::vector<uint32_t>{1, 0});
       }},
      {"windows_by_cycle",
       [](GgufWriter& file, const std::string& p) {
         file.Add(p + "attention.sliding_window", 2u).Add(p + "attention.sliding_window_pattern", 2u);
       }},
      {"tiny_logit_scale", [](GgufWriter& file, const std::string& p) { file.Add(p + "logit_scale", 1e-46); }},
      {"tiny_cap", [](GgufWriter& file, const std::string& p) { file.Add(p + "final_logit_softcapping", 1e-46); }},
      {"tiny_scaling", [](GgufWriter& file, const std::string& p) { file.Add(p + "rope.scaling.factor", 1e-300); }},
      {"unknown_key", [](GgufWriter& file, const std::string& p) { file.Add(p + "attention.new", 1u); }},
  };
  std::vector<Sample> samples;
  for (const char* architecture : {"llama", "gemma2", "gemma3", "phi3", "granite"}) {
    const bool gemma = architecture[0] == 'g' && architecture[1] == 'e';
    for (const auto& [name, change] : changes) {
      test::RandomModel model = Small({.name = name, .architecture = architecture, .keys = change, .tied = true});
      model.post_norms = gemma;
      model.head_norms = gemma && architecture[5] == '3';
      model.fused = architecture[0] == 'p';
      samples.push_back({std::string(architecture) + "_" + name, RandomModelFile(model).Bytes()});
    }
  }
  return samples;
}

inline std::vector<Sample> NativeModels() {
  std::vector<Sample> samples = HostileModels();
  for (const test::RandomModel& model : test::RandomModels()) {
    samples.push_back({model.name, RandomModelFile(Small(model)).Bytes()});
  }
  test::RandomModel no_tokens = Small({.name = "no_tokens", .architecture = "llama"});
  no_tokens.vocabulary = 0;
  samples.push_back({no_tokens.name, RandomModelFile(no_tokens).Bytes()});
  for (uint32_t number = 0; number < 64; ++number) {
    const GgmlTypeInfo* info = FindGgmlType(number);
    if (!info || !native::WeightTypeOf(info->type)) continue;
    samples.push_back({"type_" + std::string(info->name), RandomModelFile(OfType(info->type)).Bytes()});
  }
  return samples;
}

// The model whose packed weights are replaced. Every vector fills its place, so that no byte of the payload is free.
inline test::RandomModel ModelToPack() {
  test::RandomModel model = Small({.name = "packed", .architecture = "llama", .tied = true});
  model.layers = 1;
  model.width = model.feed_forward = 16;
  model.head_width = 32;
  model.rope_tensors = {"rope_freqs.weight"};
  model.type = GgmlType::kF16;
  return model;
}

// An input: a byte of these, two bytes of an offset (the lower first), then the bytes that are added there, modulo 2,
// to the right file or to zeros.
enum PackedInput : uint8_t {
  kOverRightFile = 1,
  kCut = 2,            // the file ends behind the bytes
  kRightLength = 4,    // of the file, and in its head
  kRightKey = 8,       // in the head
  kRightChecksum = 16  // of whatever the payload is
};
inline constexpr size_t kPackedInputStart = 3;

}  // namespace owml::fuzz
