// What may be loaded and what is refused, before llama.cpp could stumble over it.
#include "backend/llama/llama_model.h"

#include <gmock/gmock.h>

#include <fstream>

#include "backend/llama/llama_fixture.h"
#include "formats/gguf.h"

namespace owml::test {
namespace {

using testing::HasSubstr;

const HRESULT kInvalidData = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
const HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

class LlamaModelTest : public testing::Test {
 protected:
  Failure LoadFailure(const std::string& name, const std::string& bytes) const {
    const auto path = folder_.Write(name, bytes);
    Failure failure = FailureOf([&] { LoadGguf(path); });
    EXPECT_THAT(failure.sentence, HasSubstr(path.string()));
    return failure;
  }

  // The tiny model in `count` files, as llama.cpp's splitter would write it.
  std::filesystem::path WriteShards(uint16_t count) const {
    const GgufWriter whole = TinyLlama();
    std::vector<GgufWriter> shards(count);
    shards[0] = TinyLlamaMetadata();
    GgufWriter tensors;
    AddTinyLlamaTensors(&tensors);
    const auto parsed = GgufFile::Parse(AsBytes(bytes_of_tensors_ = tensors.Bytes()), "tensors");
    size_t next = 0;
    for (const GgufTensor& tensor : parsed.tensors()) {
      const std::vector<uint64_t> dims(tensor.dims.begin(), tensor.dims.begin() + tensor.rank);
      shards[next++ % count].Tensor(std::string(tensor.name), tensor.type, dims,
                                    std::string(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()));
    }
    for (uint16_t i = 0; i < count; ++i) {
      shards[i]
          .Add("split.no", i)
          .Add("split.count", count)
          .Add("split.tensors.count", static_cast<int32_t>(whole.tensor_count()));
      char name[64];
      std::snprintf(name, sizeof(name), "tiny-%05d-of-%05d.gguf", i + 1, count);
      folder_.Write(name, shards[i].Bytes());
    }
    char first[64];
    std::snprintf(first, sizeof(first), "tiny-00001-of-%05d.gguf", count);
    return folder_.path() / first;
  }

  TemporaryFolder folder_;
  mutable std::string bytes_of_tensors_;
};

TEST_F(LlamaModelTest, AnUnknownArchitectureIsRefusedByName) {
  GgufWriter file = TinyLlama();
  file.Add("general.architecture", "nonesuch")
      .Add("nonesuch.block_count", uint32_t{2})
      .Add("nonesuch.context_length", uint32_t{256});
  file.Add("nonesuch.embedding_length", uint32_t{32});
  const Failure failure = LoadFailure("unknown.gguf", file.Bytes());
  EXPECT_EQ(failure.code, kInvalidData);
  EXPECT_THAT(failure.sentence, HasSubstr("nonesuch"));
}

TEST_F(LlamaModelTest, AMissingOrMisshapenTensorIsFoundAtLoad) {
  GgufWriter metadata_only = TinyLlamaMetadata();
  metadata_only.FloatTensor("token_embd.weight", {32, kTinyVocabulary}, std::vector<float>(32 * kTinyVocabulary));
  Failure failure = LoadFailure("missing.gguf", metadata_only.Bytes());
  EXPECT_EQ(failure.code, kInvalidData);
  EXPECT_THAT(failure.sentence, HasSubstr("output_norm.weight"));

  TinyLlamaShape wide;
  wide.width = 64;
  GgufWriter mixed = TinyLlamaMetadata();
  AddTinyLlamaTensors(&mixed, wide);
  failure = LoadFailure("misshapen.gguf", mixed.Bytes());
  EXPECT_EQ(failure.code, kInvalidData);
  EXPECT_THAT(failure.sentence, HasSubstr("token_embd.weight"));
}

TEST_F(LlamaModelTest, TooManyLayersAreRefused) {
  GgufWriter file = TinyLlama();
  file.Add("llama.block_count", uint32_t{513});
  EXPECT_EQ(LoadFailure("layers.gguf", file.Bytes()).code, kInvalidData);
}

TEST_F(LlamaModelTest, CutFilesAreRefused) {
  const std::string whole = TinyLlama().Bytes();
  for (const size_t size : {size_t{4}, size_t{24}, whole.size() / 2, whole.size() - 1}) {
    EXPECT_EQ(LoadFailure("cut.gguf", whole.substr(0, size)).code, kInvalidData) << size;
  }
}

TEST_F(LlamaModelTest, AVocabularyWithoutWeightsIsNoModel) {
  const Failure failure = LoadFailure("vocabulary.gguf", TinyLlamaMetadata().Bytes());
  EXPECT_EQ(failure.code, kNotSupported);
  EXPECT_THAT(failure.sentence, HasSubstr("tokenizer"));
}

TEST_F(LlamaModelTest, AnEmbeddingModelIsRefused) {
  GgufWriter file = TinyLlama();
  file.Add("llama.attention.causal", false);
  const Failure failure = LoadFailure("embedding.gguf", file.Bytes());
  EXPECT_EQ(failure.code, kNotSupported);
  EXPECT_THAT(failure.sentence, HasSubstr("causal"));
}

TEST_F(LlamaModelTest, MissingFilesAndFoldersAreNamed) {
  const Failure missing = FailureOf([&] { LoadGguf(folder_.path() / "none.gguf"); });
  EXPECT_EQ(missing.code, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  EXPECT_THAT(missing.sentence, HasSubstr("none.gguf"));
  EXPECT_EQ(FailureOf([&] { LoadGguf(folder_.path()); }).code, E_INVALIDARG);
}

TEST_F(LlamaModelTest, PathsMayHoldAnyCharacters) {
  const auto path = folder_.Write("a b/na\u00efve \u4f60\u597d.gguf", TinyLlama().Bytes());
  EXPECT_EQ(RunTokens(*SessionOn(*LoadGguf(path)), {1, 65}).size(), kTinyVocabulary);
}

TEST_F(LlamaModelTest, ABufferGivesWhatTheFileGives) {
  const std::string bytes = TinyLlama().Bytes();
  const auto path = folder_.Write("tiny.gguf", bytes);
  std::shared_ptr<const BackendModel> model;
  {
    const std::string copy = bytes;  // gone before the session is made
    ModelSource source;
    source.bytes = AsBytes(copy);
    model = MakeLlamaBackend()->Load(source, ModelFormat::kGguf);
  }
  ExpectClose(RunTokens(*SessionOn(*model), {1, 65, 66}), RunTokens(*SessionOn(*LoadGguf(path)), {1, 65, 66}), 1e-6f);
}

TEST_F(LlamaModelTest, ADamagedBufferIsRefused) {
  ModelSource source;
  source.bytes = AsBytes("GGUF");
  const Failure failure = FailureOf([&] { MakeLlamaBackend()->Load(source, ModelFormat::kGguf); });
  EXPECT_EQ(failure.code, kInvalidData);
  EXPECT_THAT(failure.sentence, HasSubstr("the model buffer"));
}

TEST_F(LlamaModelTest, ShardsAreFoundBesideTheFirstOne) {
  const auto whole = LoadGguf(folder_.Write("tiny.gguf", TinyLlama().Bytes()));
  const auto sharded = LoadGguf(WriteShards(3));
  ExpectClose(RunTokens(*SessionOn(*sharded), {1, 65, 66}), RunTokens(*SessionOn(*whole), {1, 65, 66}), 1e-6f);
}

TEST_F(LlamaModelTest, ShardsThatDoNotBelongTogetherAreRefused) {
  const auto first = WriteShards(3);
  const Failure later = FailureOf([&] { LoadGguf(folder_.path() / "tiny-00002-of-00003.gguf"); });
  EXPECT_EQ(later.code, E_INVALIDARG);
  std::filesystem::copy_file(folder_.path() / "tiny-00002-of-00003.gguf", folder_.path() / "tiny-00003-of-00003.gguf",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(FailureOf([&] { LoadGguf(first); }).code, kInvalidData);
  std::filesystem::remove(folder_.path() / "tiny-00003-of-00003.gguf");
  const Failure missing = FailureOf([&] { LoadGguf(first); });
  EXPECT_EQ(missing.code, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  EXPECT_THAT(missing.sentence, HasSubstr("tiny-00003-of-00003.gguf"));
}

TEST_F(LlamaModelTest, ABufferWithOneShardIsRefused) {
  WriteShards(2);
  std::ifstream file(folder_.path() / "tiny-00001-of-00002.gguf", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ModelSource source;
  source.bytes = AsBytes(bytes);
  EXPECT_EQ(FailureOf([&] { MakeLlamaBackend()->Load(source, ModelFormat::kGguf); }).code, kNotSupported);
}

TEST_F(LlamaModelTest, WhatWasCheckedIsWhatRuns) {
  const auto path = folder_.Write("tiny.gguf", TinyLlama().Bytes());
  const auto expected = RunTokens(*SessionOn(*LoadGguf(path)), {1, 65});
  const auto model = LoadGguf(path);
  // Replaced by rename, as downloads do it.
  std::filesystem::rename(folder_.Write("other.gguf", "no model at all"), path);
  ExpectClose(RunTokens(*SessionOn(*model), {1, 65}), expected, 1e-6f);
}

TEST_F(LlamaModelTest, AGpuThatIsNotThereIsRefusedAtBuild) {
  if (!MakeLlamaBackend()->Devices().empty()) GTEST_SKIP() << "a GPU family is deployed here";
  const auto model = LoadGguf(folder_.Write("tiny.gguf", TinyLlama().Bytes()));
  SessionOptions options;
  options.device = DeviceKind::kGpu;
  EXPECT_EQ(FailureOf([&] { SessionOn(*model, options); }).code, kNotSupported);
}

TEST_F(LlamaModelTest, OnlyGgufIsHandled) {
  EXPECT_TRUE(MakeLlamaBackend()->Handles(ModelFormat::kGguf));
  EXPECT_FALSE(MakeLlamaBackend()->Handles(ModelFormat::kOnnx));
  EXPECT_FALSE(MakeLlamaBackend()->Handles(ModelFormat::kOrtFlatbuffer));
}

}  // namespace
}  // namespace owml::test
