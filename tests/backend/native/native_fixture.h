// Loading and running GGUF models through the native engine, and tiny models with weights of any type it knows.
// Used by the tests of this folder; what is common to both GGUF engines comes from the fixture of llama.cpp.
#pragma once

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/llama/llama_fixture.h"
#include "backend/native/architectures/architectures.h"
#include "backend/native/model_weights.h"
#include "backend/native/native_backend.h"
#include "backend/native/packed_matrix.h"
#include "backend/native/random_weights.h"
#include "kernels/isa.h"
#include "kernels/kernel_fixture.h"

namespace owml::test {

inline std::shared_ptr<const BackendModel> LoadNative(const std::filesystem::path& path) {
  return MakeNativeBackend()->Load(FileSource(path), ModelFormat::kGguf);
}

// The weights of a model file, for tests below sessions; by way of the packed cache where it is wanted.
inline std::shared_ptr<const native::ModelWeights> LoadWeights(const std::filesystem::path& path, bool cached = false) {
  auto files = std::make_shared<const GgufModelFiles>(OpenGgufModel(path));
  const std::shared_ptr<const std::vector<GgufFile>> list(files, &files->files);
  const native::ModelPlan plan = native::PlanOf(list->front());
  return std::make_shared<const native::ModelWeights>(list, cached ? files.get() : nullptr, plan,
                                                      native::FindTensors(*list, plan));
}

// Sets OWML_FORCE_ISA while it lives.
class ForcedIsa {
 public:
  explicit ForcedIsa(kernels::Isa isa) { ::setenv("OWML_FORCE_ISA", std::string(kernels::Name(isa)).c_str(), 1); }
  ~ForcedIsa() { ::unsetenv("OWML_FORCE_ISA"); }
};

// Widths that whole blocks of `type` fill.
inline TinyLlamaShape ShapeFor(GgmlType type) {
  if (InfoOf(type).block_elements == 256) {
    return {.blocks = 2, .width = 256, .heads = 8, .kv_heads = 2, .feed_forward = 512, .context = 2048, .seed = 3};
  }
  return {.blocks = 2, .width = 96, .heads = 6, .kv_heads = 2, .feed_forward = 160, .context = 2048, .seed = 3};
}

inline std::string Dequantized(GgmlType type, const std::string& weights, uint64_t count) {
  std::string bytes(count * sizeof(float), '\0');
  kernels::DequantizeRow(native::WeightTypeOf(type).value(), AsBytes(weights).data(), count,
                         reinterpret_cast<float*>(bytes.data()));
  return bytes;
}

// A llama model like TinyLlama with matrices of `type`; with `dequantized` the same numbers as floats.
inline std::string RandomLlama(GgmlType type, bool dequantized = false) {
  const TinyLlamaShape shape = ShapeFor(type);
  GgufWriter file = TinyLlamaMetadata(shape);
  std::mt19937 random(shape.seed);
  const auto matrix = [&](const std::string& name, uint64_t columns, uint64_t rows) {
    const std::string weights = RandomWeights(type, columns * rows, random);
    if (dequantized) {
      file.Tensor(name, GgmlType::kF32, {columns, rows}, Dequantized(type, weights, columns * rows));
    } else {
      file.Tensor(name, type, {columns, rows}, weights);
    }
  };
  const auto norm = [&](const std::string& name) {
    std::vector<float> values(shape.width);
    for (float& value : values) value = 0.75f + static_cast<float>(random() >> 8) / 16777216.0f * 0.5f;
    file.FloatTensor(name, {shape.width}, values);
  };
  const uint64_t kv_width = uint64_t{shape.width} / shape.heads * shape.kv_heads;
  matrix("token_embd.weight", shape.width, kTinyVocabulary);
  norm("output_norm.weight");
  matrix("output.weight", shape.width, kTinyVocabulary);
  for (uint32_t i = 0; i < shape.blocks; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    norm(block + "attn_norm.weight");
    matrix(block + "attn_q.weight", shape.width, shape.width);
    matrix(block + "attn_k.weight", shape.width, kv_width);
    matrix(block + "attn_v.weight", shape.width, kv_width);
    matrix(block + "attn_output.weight", shape.width, shape.width);
    norm(block + "ffn_norm.weight");
    matrix(block + "ffn_gate.weight", shape.width, shape.feed_forward);
    matrix(block + "ffn_down.weight", shape.feed_forward, shape.width);
    matrix(block + "ffn_up.weight", shape.width, shape.feed_forward);
  }
  return file.Bytes();
}

// Feeds tokens in runs of at most `chunk` and returns the logits of the last one.
inline std::vector<float> RunInChunks(BackendSession& session, const std::vector<int32_t>& tokens, size_t chunk) {
  std::vector<float> logits;
  for (size_t i = 0; i < tokens.size(); i += chunk) {
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    logits = RunTokens(session, {begin, begin + static_cast<std::ptrdiff_t>(std::min(chunk, tokens.size() - i))});
  }
  return logits;
}

inline std::vector<int32_t> RandomTokens(size_t count, int32_t vocabulary, uint32_t seed = 7) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % static_cast<uint32_t>(vocabulary));
  return tokens;
}

struct Difference {
  double cosine = 0;
  float largest = 0;
};

inline Difference Compare(std::span<const float> a, std::span<const float> b) {
  double ab = 0, aa = 0, bb = 0;
  Difference difference;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
    difference.largest = std::max(difference.largest, std::abs(a[i] - b[i]));
  }
  difference.cosine = ab / std::sqrt(aa * bb);
  return difference;
}

}  // namespace owml::test
