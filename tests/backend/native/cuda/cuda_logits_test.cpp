// Logits of the CUDA device for every architecture, type of weights and type of cache: those of the CPU up to rounding,
// and its own bits whatever else a step has.
#include <algorithm>
#include <functional>

#include "backend/native/cuda/cuda_fixture.h"

namespace owml::test {
namespace {

using namespace owml::native;  // NOLINT
using kernels::CacheType;

struct Case {
  std::string name;
  std::function<std::string()> file;
  CacheType cache = CacheType::kF16;
  // Every operation gives the CPU's numbers up to some 1e-7 (cuda_operations_test.cpp). What is then rounded to a half
  // may come out a step of 2^-11 apart, to BF16 one of 2^-8, to eight bits one of 1 / 127 of the block's highest:
  // seldom, so that the length of a row of logits moves by less than two of these steps.
  double bound = 1e-3;
};

std::string Named(const testing::TestParamInfo<Case>& info) { return info.param.name; }

constexpr double kBytes = 1.6e-2;

std::vector<Case> Cases() {
  std::vector<Case> cases;
  const auto file = [](const RandomModel& model) { return [model] { return RandomModelFile(model).Bytes(); }; };
  for (const RandomModel& model : RandomModels()) cases.push_back({model.name, file(model)});
  for (const GgmlType type : {GgmlType::kF32, GgmlType::kF16, GgmlType::kBF16, GgmlType::kQ8_0, GgmlType::kQ4_0,
                              GgmlType::kQ4_1, GgmlType::kQ5_0, GgmlType::kQ5_1, GgmlType::kQ2_K, GgmlType::kQ3_K,
                              GgmlType::kQ4_K, GgmlType::kQ5_K, GgmlType::kQ6_K, GgmlType::kIQ4_NL, GgmlType::kMXFP4}) {
    const bool quantized = kernels::IsQuantized(WeightTypeOf(type).value());
    cases.push_back({"weights_" + std::string(InfoOf(type).name), [type] { return RandomLlama(type); }, CacheType::kF16,
                     quantized                 ? kBytes
                     : type == GgmlType::kBF16 ? 8e-3
                                               : 1e-3});
  }
  // Widths of heads on both sides of what a block of threads takes at once; six heads that share keys.
  for (const uint32_t width : {70u, 136u, 258u}) {
    RandomModel model{.name = "heads_of_" + std::to_string(width), .architecture = "llama"};
    model.layers = 1;
    model.heads = 6;
    model.kv_heads = 1;
    model.head_width = width;
    cases.push_back({model.name, file(model)});
    cases.push_back({model.name + "_q8", file(model), CacheType::kQ8, kBytes});
  }
  for (const RandomModel& model : RandomModels()) {
    if (model.name != "qwen3" && model.name != "gemma2") continue;
    cases.push_back({model.name + "_bf16", file(model), CacheType::kBF16, 8e-3});
    cases.push_back({model.name + "_q8", file(model), CacheType::kQ8, kBytes});
  }
  return cases;
}

class CudaLogitsTest : public testing::TestWithParam<Case> {
 protected:
  static constexpr size_t kTokens = 50;

  void SetUp() override {
    weights_ = LoadWeights(folder_.Write("m.gguf", GetParam().file()));
    settings_ = {.capacity = 80, .batch_size = 128, .threads = 2, .cache_type = GetParam().cache, .slots = 3};
    gpu_ = OnGpu(weights_, settings_);
    for (uint32_t slot = 0; slot < 3; ++slot) gpu_->Add();
  }

  TemporaryFolder folder_;
  std::shared_ptr<const ModelWeights> weights_;
  ForwardSettings settings_;
  std::unique_ptr<Sequences> gpu_;
  const std::vector<int32_t> tokens_ = RandomTokens(kTokens, kTinyVocabulary);
};

TEST_P(CudaLogitsTest, AreThoseOfTheCpuUpToRoundingWithTheSameHighest) {
  const auto cpu = MakeSequences(weights_, settings_);
  const auto expected = AllLogits(*cpu, *cpu->Add(), tokens_, kTokens);
  const auto logits = AllLogits(*gpu_, 0, tokens_, kTokens);
  const double distance = RelativeDistance(logits, expected);
  RecordProperty("distance", std::to_string(distance));
  EXPECT_LT(distance, GetParam().bound);
  for (size_t row = 0; row < kTokens; ++row) {
    const std::span<const float> ours(logits.data() + row * kTinyVocabulary, kTinyVocabulary);
    const std::span<const float> theirs(expected.data() + row * kTinyVocabulary, kTinyVocabulary);
    const auto best = std::max_element(ours.begin(), ours.end()) - ours.begin();
    // Two candidates closer than the difference of the rows are a matter of rounding.
    const float behind = *std::max_element(theirs.begin(), theirs.end()) - theirs[static_cast<size_t>(best)];
    EXPECT_LE(behind, 2 * Compare(ours, theirs).largest) << "token " << row;
  }
}

TEST_P(CudaLogitsTest, HaveTheSameBitsForAnyDivisionCompanyAndOrderOfThreads) {
  const auto expected = AllLogits(*gpu_, 0, tokens_, kTokens);
  std::vector<float> logits;
  size_t at = 0;
  for (const size_t count : {1, 2, 4, 6, 9, 28}) {  // alone, few rows of each form, tiles
    const auto rows = Append(*gpu_, 1, std::span(tokens_).subspan(at, count), LogitRows::kAll);
    logits.insert(logits.end(), rows.begin(), rows.end());
    at += count;
  }
  EXPECT_EQ(logits, expected);

  const DescendingOrder order;
  for (const uint32_t slot : {0, 1}) gpu_->RewindTo(slot, 0);
  const auto others = RandomTokens(10, kTinyVocabulary, 9);
  std::vector<float> all((2 * others.size() + kTokens) * kTinyVocabulary);
  const Continuation steps[] = {
      {2, others, LogitRows::kAll}, {1, tokens_, LogitRows::kAll}, {0, others, LogitRows::kAll}};
  gpu_->Step(steps, {all});
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(others.size() * kTinyVocabulary);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), begin));
}

INSTANTIATE_TEST_SUITE_P(Model, CudaLogitsTest, testing::ValuesIn(Cases()), Named);

// More than a segment of attention: single rows are computed by segments side by side, prompts by one block of threads.
TEST(CudaSegmentsTest, GiveTheSameBitsSideBySideAndInTurnAndTheValuesOfTheCpu) {
  TemporaryFolder folder;
  for (const uint32_t window : {0u, 530u}) {
    RandomModel model{.name = "long", .architecture = window ? "gemma2" : "llama"};
    model.layers = window ? 2 : 1;
    model.heads = model.kv_heads = 1;
    model.tied = model.post_norms = window != 0;
    if (window)
      model.keys = [&](GgufWriter& file, const std::string& p) { file.Add(p + "attention.sliding_window", window); };
    const auto weights = LoadWeights(folder.Write("long.gguf", RandomModelFile(model).Bytes()));
    const ForwardSettings settings{.capacity = 1700, .batch_size = 128, .threads = 2, .slots = 2};
    const auto gpu = OnGpu(weights, settings), cpu = MakeSequences(weights, settings);
    for (const auto& sequences : {gpu.get(), cpu.get()}) sequences->Add(), sequences->Add();
    const auto tokens = RandomTokens(1600, kTinyVocabulary);
    const auto expected = Append(*gpu, 0, tokens);
    Append(*gpu, 1, std::span(tokens).first(1595));
    Append(*gpu, 1, std::span(tokens).subspan(1595, 2));
    for (size_t i = 1597; i < 1599; ++i) Append(*gpu, 1, std::span(tokens).subspan(i, 1));
    EXPECT_EQ(Append(*gpu, 1, std::span(tokens).last(1)), expected) << "window " << window;
    EXPECT_LT(RelativeDistance(expected, Append(*cpu, 0, tokens)), 1e-3);
  }
}

}  // namespace
}  // namespace owml::test
