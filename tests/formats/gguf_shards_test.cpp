// Shard names and models made of several files.
#include "formats/gguf_shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "formats/expect_error.h"
#include "support/gguf_writer.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

GgufWriter Shard(uint16_t number, uint16_t count, int32_t tensors, const std::string& tensor) {
  GgufWriter writer;
  writer.Add("split.no", number).Add("split.count", count).Add("split.tensors.count", tensors);
  writer.Tensor(tensor, GgmlType::kF32, {8});
  return writer;
}

TEST(GgufShardName, IsTakenApart) {
  const auto name = ParseGgufShardName("big-model-00002-of-00012.GGUF");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->prefix, "big-model");
  EXPECT_EQ(name->number, 2u);
  EXPECT_EQ(name->count, 12u);
}

TEST(GgufShardName, OtherNamesHaveNone) {
  for (const char* name :
       {"m.gguf", "-00001-of-00002.gguf", "m-0001-of-0002.gguf", "m-00003-of-00002.gguf", "m-00000-of-00002.gguf",
        "m-0000a-of-00002.gguf", "m-00001-of-00002.bin", "m00001-of-00002.gguf", ""}) {
    EXPECT_FALSE(ParseGgufShardName(name)) << name;
  }
}

TEST(GgufShards, AreFoundAndReadTogether) {
  const TemporaryFolder folder;
  const auto first = folder.Write("Modèle 模型/m-00001-of-00003.gguf", Shard(0, 3, 3, "a").Bytes());
  folder.Write("Modèle 模型/m-00002-of-00003.gguf", Shard(1, 3, 3, "b").Bytes());
  folder.Write("Modèle 模型/m-00003-of-00003.gguf", Shard(2, 3, 3, "c").Bytes());
  const GgufModelFiles model = OpenGgufModel(first);
  ASSERT_EQ(model.files.size(), 3u);
  EXPECT_TRUE(model.files[2].FindTensor("c"));
  EXPECT_EQ(model.paths[1].filename(), "m-00002-of-00003.gguf");
}

TEST(GgufShards, SingleFilesAreModelsOfOne) {
  const TemporaryFolder folder;
  EXPECT_EQ(OpenGgufModel(folder.Write("m.gguf", GgufWriter().Add("a", 1u).Bytes())).files.size(), 1u);
}

TEST(GgufShards, FileReplacedWhileMappedKeepsItsOldContent) {
  const TemporaryFolder folder;
  const auto path = folder.Write("m.gguf", GgufWriter().Add("general.name", "old").FloatTensor("a", {1}, {1}).Bytes());
  const GgufModelFiles model = OpenGgufModel(path);
  std::filesystem::rename(folder.Write("new.gguf", "x"), path);
  EXPECT_EQ(model.files[0].metadata().RequireString("general.name"), "old");
  EXPECT_EQ(LoadLittleEndian<float>(model.files[0].FindTensor("a")->data.data()), 1.0f);
}

TEST(GgufShards, MissingOneIsNamed) {
  const TemporaryFolder folder;
  const auto first = folder.Write("m-00001-of-00002.gguf", Shard(0, 2, 2, "a").Bytes());
  ExpectError([&] { OpenGgufModel(first); }, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
              {"m-00002-of-00002.gguf", "2 shards"});
}

TEST(GgufShards, LaterShardPointsToTheFirst) {
  const TemporaryFolder folder;
  const auto second = folder.Write("m-00002-of-00002.gguf", Shard(1, 2, 2, "a").Bytes());
  ExpectError([&] { OpenGgufModel(second); }, E_INVALIDARG, {"shard 2 of 2", "m-00001-of-00002.gguf"});
}

TEST(GgufShards, NameMustAgreeWithTheCount) {
  const TemporaryFolder folder;
  ExpectBadData([&] { OpenGgufModel(folder.Write("m.gguf", Shard(0, 2, 2, "a").Bytes())); },
                {"2 shards", "-00001-of-0000N.gguf"});
  ExpectBadData([&] { OpenGgufModel(folder.Write("m-00001-of-00003.gguf", Shard(0, 2, 2, "a").Bytes())); },
                {"2 shards"});
}

TEST(GgufShards, MustBelongTogether) {
  const TemporaryFolder folder;
  const auto first = folder.Write("m-00001-of-00002.gguf", Shard(0, 2, 2, "a").Bytes());
  const std::string second = "m-00002-of-00002.gguf";
  folder.Write(second, Shard(0, 2, 2, "b").Bytes());
  ExpectBadData([&] { OpenGgufModel(first); }, {second, "split.no"});
  folder.Write(second, Shard(1, 3, 2, "b").Bytes());
  ExpectBadData([&] { OpenGgufModel(first); }, {second, "split.count", "3"});
  folder.Write(second, Shard(1, 2, 2, "a").Bytes());
  ExpectBadData([&] { OpenGgufModel(first); }, {"'a'", "also in"});
  folder.Write(second, Shard(1, 2, 2, "b").Tensor("c", GgmlType::kF32, {8}).Bytes());
  ExpectBadData([&] { OpenGgufModel(first); }, {"split.tensors.count", "2", "3 tensors"});
  folder.Write(second, GgufWriter().Add("split.count", uint16_t{2}).Bytes());
  ExpectBadData([&] { OpenGgufModel(first); }, {second, "split.no", "missing"});
  folder.Write(second, Shard(1, 2, 2, "b").Add("split.no", uint32_t{1}).Bytes());
  ExpectBadData([&] { OpenGgufModel(first); }, {second, "split.no", "uint32", "uint16"});
}

}  // namespace
}  // namespace owml::test
