// Which files the engine takes, and what it says about the others.
#include <gmock/gmock.h>

#include <algorithm>
#include <utility>

#include "backend/native/native_fixture.h"
#include "backend/native/random_models.h"
#include "formats/gguf.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
constexpr HRESULT kInvalidData = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);

class NativeModelTest : public testing::Test {
 protected:
  Failure LoadFailure(const GgufWriter& file) const {
    return FailureOf([&] { LoadNative(folder_.Write("model.gguf", file.Bytes())); });
  }
  static GgufWriter With(void (*change)(GgufWriter&)) {
    GgufWriter file = TinyLlama();
    change(file);
    return file;
  }

  TemporaryFolder folder_;
};

TEST_F(NativeModelTest, AnotherArchitectureIsNotSupportedAndNamed) {
  const Failure failure = LoadFailure(With([](GgufWriter& file) { file.Add("general.architecture", "mamba"); }));
  EXPECT_EQ(failure.code, kNotSupported);
  EXPECT_THAT(failure.sentence, HasSubstr("mamba"));
}

TEST_F(NativeModelTest, FeaturesThatAreNotBuiltAreNamed) {
  const std::vector<std::pair<void (*)(GgufWriter&), const char*>> cases = {
      {[](GgufWriter& f) { f.Add("llama.attention.value_length", uint32_t{4}); }, "values of 4"},
      {[](GgufWriter& f) { f.Add("llama.expert_count", uint32_t{8}); }, "experts"},
      {[](GgufWriter& f) { f.Add("llama.rope.scaling.type", "dynamic"); }, "dynamic"},
      {[](GgufWriter& f) { f.Add("llama.logit_scale", 2.0f); }, "logit_scale"},
      {[](GgufWriter& f) {
         f.Add("llama.feed_forward_length", std::vector<uint32_t>{64, 64});
       },
       "feed_forward_length"},
      {[](GgufWriter& f) { f.Add("llama.attention.causal", false); }, "causal"},
      {[](GgufWriter& f) { f.FloatTensor("blk.0.attn_sinks.weight", {4}, std::vector<float>(4)); }, "attn_sinks"},
  };
  for (const auto& [change, word] : cases) {
    const Failure failure = LoadFailure(With(change));
    EXPECT_EQ(failure.code, kNotSupported) << word;
    EXPECT_THAT(failure.sentence, HasSubstr(word));
    EXPECT_THAT(failure.sentence, HasSubstr("model.gguf"));
  }
}

TEST_F(NativeModelTest, AnElementTypeWithoutKernelsIsNamed) {
  TinyLlamaShape shape;
  GgufWriter file = TinyLlamaMetadata(shape);
  file.Tensor("token_embd.weight", GgmlType::kI8, {shape.width, kTinyVocabulary});
  const Failure failure = LoadFailure(file);
  EXPECT_EQ(failure.code, kNotSupported);
  EXPECT_THAT(failure.sentence, HasSubstr("i8"));
  EXPECT_THAT(failure.sentence, HasSubstr("token_embd.weight"));
}

TEST_F(NativeModelTest, NumbersThatCannotBeAreInvalidAndNamed) {
  const std::vector<std::pair<void (*)(GgufWriter&), const char*>> cases = {
      {[](GgufWriter& f) { f.Add("llama.block_count", uint32_t{0}); }, "block_count"},
      {[](GgufWriter& f) { f.Add("llama.attention.head_count_kv", uint32_t{3}); }, "head_count_kv"},
      {[](GgufWriter& f) { f.Add("llama.attention.head_count", uint32_t{64}); }, "head_count"},
      {[](GgufWriter& f) { f.Add("llama.rope.dimension_count", uint32_t{7}); }, "dimension_count"},
      {[](GgufWriter& f) { f.Add("llama.rope.freq_base", -1.0f); }, "freq_base"},
      {[](GgufWriter& f) { f.Add("llama.attention.layer_norm_rms_epsilon", NAN); }, "epsilon"},
      {[](GgufWriter& f) { f.Remove("llama.embedding_length"); }, "embedding_length"},
      {[](GgufWriter& f) { f.Add("llama.embedding_length", uint32_t{64}); }, "shape"},
      {[](GgufWriter& f) { f.Add("llama.block_count", uint32_t{3}); }, "blk.2"},
  };
  for (const auto& [change, word] : cases) {
    const Failure failure = LoadFailure(With(change));
    EXPECT_EQ(failure.code, kInvalidData) << word;
    EXPECT_THAT(failure.sentence, HasSubstr(word));
  }
}

TEST_F(NativeModelTest, NumbersOfOtherArchitecturesThatCannotBeAreInvalidAndNamed) {
  struct Case {
    const char* model;
    void (*change)(GgufWriter&);
    const char* word;
  };
  const std::vector<Case> cases = {
      {"llama", [](GgufWriter& f) { f.Add("llama.attention.sliding_window", uint64_t{1} << 31); }, "sliding_window"},
      {"llama", [](GgufWriter& f) { f.Add("llama.context_length", uint64_t{1} << 31); }, "context_length"},
      {"llama_linear", [](GgufWriter& f) { f.Add("llama.rope.scaling.factor", -2.0f); }, "scaling.factor"},
      {"llama_linear", [](GgufWriter& f) { f.Add("llama.rope.scaling.factor", NAN); }, "scaling.factor"},
      {"llama_yarn", [](GgufWriter& f) { f.Add("llama.rope.scaling.attn_factor", 0.0f); }, "attn_factor"},
      {"llama_yarn", [](GgufWriter& f) { f.Add("llama.rope.scaling.original_context_length", uint32_t{0}); },
       "context"},
      {"llama3", [](GgufWriter& f) { f.Add("llama.rope.dimension_count", uint32_t{15}); }, "dimension_count"},
      {"llama3", [](GgufWriter& f) { f.Add("llama.rope.dimension_count", uint32_t{12}); }, "rope_freqs"},
      {"gemma2", [](GgufWriter& f) { f.Add("gemma2.attn_logit_softcapping", -50.0f); }, "attn_logit_softcapping"},
      {"gemma2", [](GgufWriter& f) { f.Add("gemma2.attn_logit_softcapping", NAN); }, "attn_logit_softcapping"},
      {"gemma2", [](GgufWriter& f) { f.Add("gemma2.final_logit_softcapping", INFINITY); }, "final_logit_softcapping"},
      {"gemma3",
       [](GgufWriter& f) {
         f.Add("gemma3.attention.sliding_window_pattern", std::vector<uint32_t>{1, 0});
       },
       "sliding_window_pattern"},
      {"gemma3", [](GgufWriter& f) { f.Add("gemma3.attention.sliding_window_pattern", std::vector<float>(7)); },
       "sliding_window_pattern"},
      {"gemma3", [](GgufWriter& f) { f.Add("gemma3.rope.freq_base_swa", 0.0f); }, "freq_base_swa"},
      {"granite", [](GgufWriter& f) { f.Add("granite.logit_scale", INFINITY); }, "logit_scale"},
      {"granite", [](GgufWriter& f) { f.Add("granite.residual_scale", 1e30f); }, "residual_scale"},
      // As floats these would be zero or infinite: another model, or logits that are no numbers.
      {"granite", [](GgufWriter& f) { f.Add("granite.logit_scale", 1e-46); }, "logit_scale"},
      {"gemma2", [](GgufWriter& f) { f.Add("gemma2.attn_logit_softcapping", 1e-46); }, "attn_logit_softcapping"},
      {"gemma2", [](GgufWriter& f) { f.Add("gemma2.final_logit_softcapping", 1e300); }, "final_logit_softcapping"},
      {"llama", [](GgufWriter& f) { f.Add("llama.rope.freq_base", 1e-300); }, "freq_base"},
      {"llama_linear", [](GgufWriter& f) { f.Add("llama.rope.scaling.factor", 1e-300); }, "scaling.factor"},
      {"llama_yarn", [](GgufWriter& f) { f.Add("llama.rope.scaling.attn_factor", 1e300); }, "attn_factor"},
      {"qwen2", [](GgufWriter& f) { f.Add("qwen2.attention.head_count_kv", uint32_t{4}); }, "head_count_kv"},
      {"phi3", [](GgufWriter& f) { f.Add("phi3.feed_forward_length", uint32_t{64}); }, "ffn_up"},
      {"phi3", [](GgufWriter& f) { f.Add("phi3.attention.head_count_kv", uint32_t{3}); }, "attn_qkv"},
  };
  for (const Case& wrong : cases) {
    const auto models = RandomModels();
    const auto model = std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.name == wrong.model; });
    GgufWriter file = RandomModelFile(*model);
    wrong.change(file);
    const Failure failure = LoadFailure(file);
    EXPECT_EQ(failure.code, kInvalidData) << wrong.model << " " << wrong.word;
    EXPECT_THAT(failure.sentence, HasSubstr(wrong.word)) << wrong.model;
    EXPECT_THAT(failure.sentence, HasSubstr("model.gguf"));
  }
}

TEST_F(NativeModelTest, AVocabularyWithoutTokensOrWithTooManyIsInvalid) {
  RandomModel model = RandomModels()[0];
  model.vocabulary = 0;
  const Failure none = LoadFailure(RandomModelFile(model));
  EXPECT_EQ(none.code, kInvalidData);
  EXPECT_THAT(none.sentence, HasSubstr("vocabulary"));
  model.vocabulary = 5;
  GgufWriter file = RandomModelFile(model);
  const Failure many = LoadFailure(file.Add("llama.vocab_size", uint64_t{1} << 32));
  EXPECT_EQ(many.code, kInvalidData);
  EXPECT_THAT(many.sentence, HasSubstr("4294967296"));
}

TEST_F(NativeModelTest, EveryMissingTensorIsNamed) {
  for (const RandomModel& model : RandomModels()) {
    const std::string bytes = RandomModelFile(model).Bytes();
    const GgufFile whole = GgufFile::Parse(AsBytes(bytes), "test");
    for (const GgufTensor& missing : whole.tensors()) {
      const std::string name(missing.name);
      // Biases, factors and a head that is the embedding may be absent; one layer stands for all.
      if (name.ends_with(".bias") || name.starts_with("rope_") || name == "output.weight") continue;
      if (name.starts_with("blk.") && !name.starts_with("blk.1.")) continue;
      RandomModel none = model;
      none.layers = 0;
      GgufWriter file = RandomModelFile(none);
      file.Add(model.architecture + ".block_count", model.layers).ClearTensors();
      for (const GgufTensor& tensor : whole.tensors()) {
        if (tensor.name != missing.name)
          file.Tensor(std::string(tensor.name), tensor.type, {tensor.dims[0], tensor.dims[1]});
      }
      const Failure failure = LoadFailure(file);
      EXPECT_EQ(failure.code, kInvalidData) << model.name << " " << name;
      // A matrix of queries, keys and values together may be three.
      EXPECT_THAT(failure.sentence, HasSubstr(name == "blk.1.attn_qkv.weight" ? "blk.1.attn_q.weight" : name));
    }
  }
}

TEST_F(NativeModelTest, FactorsOfAnglesThatAreNotPositiveFailAtBuild) {
  for (const float factor : {0.0f, -1.0f, NAN, INFINITY}) {
    for (const char* name : {"llama3", "phi3_long"}) {
      const auto models = RandomModels();
      RandomModel model = *std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.name == name; });
      const std::vector<std::string> tensors = std::exchange(model.rope_tensors, {});
      GgufWriter file = RandomModelFile(model);
      for (const std::string& tensor : tensors) {
        std::vector<float> values(model.head_width / 2, 1.0f);
        values[3] = factor;
        file.FloatTensor(tensor, {values.size()}, values);
      }
      const auto loaded = LoadNative(folder_.Write("factors.gguf", file.Bytes()));
      const Failure failure = FailureOf([&] { SessionOn(*loaded); });
      EXPECT_EQ(failure.code, kInvalidData);
      EXPECT_THAT(failure.sentence, HasSubstr("rope_f"));
    }
  }
}

TEST_F(NativeModelTest, AWeightOrScaleThatIsNoNumberFailsAtBuildWithItsTensor) {
  for (const kernels::WeightType kind : kAllWeightTypes) {
    const auto infos = {GgmlType::kF32,  GgmlType::kF16,  GgmlType::kBF16, GgmlType::kQ8_0,   GgmlType::kQ4_0,
                        GgmlType::kQ4_1, GgmlType::kQ5_0, GgmlType::kQ5_1, GgmlType::kQ2_K,   GgmlType::kQ3_K,
                        GgmlType::kQ4_K, GgmlType::kQ5_K, GgmlType::kQ6_K, GgmlType::kIQ4_NL, GgmlType::kMXFP4};
    const GgmlType type = infos.begin()[static_cast<size_t>(kind)];
    const std::string whole = RandomLlama(type);
    const GgufFile file = GgufFile::Parse(AsBytes(whole), "test");
    for (const char* name : {"token_embd.weight", "output.weight", "blk.1.ffn_up.weight"}) {
      std::string bytes = whole;
      const GgufTensor& tensor = *file.FindTensor(name);
      // The last block of the tensor.
      const size_t end =
          static_cast<size_t>(reinterpret_cast<const char*>(tensor.data.data()) - whole.data()) + tensor.data.size();
      char* block = bytes.data() + end - kernels::BlockBytes(kind);
      const std::vector<size_t> places = ScalePlaces(kind);
      if (kind == kernels::WeightType::kMXFP4) {
        block[0] = '\xff';
      } else {
        char* at = places.empty() ? block + kernels::BlockBytes(kind) - 2 : block + places.back();
        at[0] = '\x80';
        at[1] = places.empty() ? '\x7f' : '\x7c';
      }
      const auto model = LoadNative(folder_.Write("bad.gguf", bytes));
      const Failure failure = FailureOf([&] { SessionOn(*model); });
      EXPECT_EQ(failure.code, kInvalidData) << name << " of " << InfoOf(type).name;
      EXPECT_THAT(failure.sentence, HasSubstr(name));
      EXPECT_THAT(failure.sentence, HasSubstr("bad.gguf"));
    }
  }
}

TEST_F(NativeModelTest, TheEmbeddingIsTheHeadWhereTheFileHasNoOther) {
  TinyLlamaShape shape;
  GgufWriter tied = TinyLlamaMetadata(shape), untied = TinyLlamaMetadata(shape);
  const std::string bytes = TinyLlama(shape).Bytes();
  const GgufFile file = GgufFile::Parse(AsBytes(bytes), "test");
  for (const GgufTensor& tensor : file.tensors()) {
    const std::vector<uint64_t> dims(tensor.dims.begin(), tensor.dims.begin() + tensor.rank);
    const GgufTensor& from = tensor.name == "output.weight" ? *file.FindTensor("token_embd.weight") : tensor;
    const std::string data(reinterpret_cast<const char*>(from.data.data()), from.data.size());
    untied.Tensor(std::string(tensor.name), tensor.type, dims, data);
    if (tensor.name != "output.weight") tied.Tensor(std::string(tensor.name), tensor.type, dims, data);
  }
  const auto a = LoadNative(folder_.Write("tied.gguf", tied.Bytes()));
  const auto b = LoadNative(folder_.Write("untied.gguf", untied.Bytes()));
  EXPECT_EQ(RunTokens(*SessionOn(*a), {1, 2, 3}), RunTokens(*SessionOn(*b), {1, 2, 3}));
}

TEST_F(NativeModelTest, ABufferGivesWhatTheFileGives) {
  const std::string bytes = TinyLlama().Bytes();
  const auto from_file = LoadNative(folder_.Write("tiny.gguf", bytes));
  std::shared_ptr<const BackendModel> from_buffer;
  {
    std::string copy = "x" + bytes;  // unaligned, and gone before the session is made
    ModelSource source;
    source.bytes = AsBytes(copy).subspan(1);
    from_buffer = MakeNativeBackend()->Load(source, ModelFormat::kGguf);
  }
  EXPECT_EQ(RunTokens(*SessionOn(*from_buffer), {1, 66}), RunTokens(*SessionOn(*from_file), {1, 66}));
}

}  // namespace
}  // namespace owml::test
