// The GGUF reader: what it gives for a good file and how it refuses every kind of damaged one.
#include "formats/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/expect_error.h"
#include "support/gguf_writer.h"

namespace owml::test {
namespace {

constexpr char kLabel[] = "'m.gguf'";

void Read(const std::string& file) { GgufFile::Parse(AsBytes(file), kLabel); }

void ExpectRefused(const GgufWriter& writer, std::vector<std::string> words) {
  const std::string file = writer.Bytes();
  words.push_back(kLabel);
  ExpectBadData([&] { Read(file); }, words);
}

GgufWriter OneTensor() {
  GgufWriter writer;
  writer.Add("general.architecture", "llama").Tensor("a", GgmlType::kF32, {4, 2});
  return writer;
}

TEST(Gguf, ReadsEveryKindOfValue) {
  GgufWriter writer;
  writer.Add("u8", uint8_t{200}).Add("i8", int8_t{-3}).Add("u16", uint16_t{65535}).Add("i16", int16_t{-300});
  writer.Add("u32", uint32_t{4000000000})
      .Add("i32", int32_t{-5})
      .Add("u64", uint64_t{1} << 40)
      .Add("i64", int64_t{-1} << 40);
  writer.Add("f32", 1.5f).Add("f64", 0.1).Add("yes", true).Add("no", false).Add("text", "Grüße");
  writer.Add("numbers", std::vector<int32_t>{1, -2, 3}).Add("words", std::vector<std::string>{"a", "", "ccc"});
  const std::string bytes = writer.Bytes();
  const GgufFile file = GgufFile::Parse(AsBytes(bytes), kLabel);
  const GgufMetadata& metadata = file.metadata();
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(metadata.entries().size(), 15u);
  EXPECT_EQ(metadata.FindUInt32("u8"), 200u);
  EXPECT_EQ(metadata.Find("i8")->AsSigned(), -3);
  EXPECT_EQ(metadata.FindUInt32("u16"), 65535u);
  EXPECT_EQ(metadata.Find("i16")->AsSigned(), -300);
  EXPECT_EQ(metadata.FindUInt32("u32"), 4000000000u);
  EXPECT_EQ(metadata.FindUInt64("u64"), uint64_t{1} << 40);
  EXPECT_EQ(metadata.Find("i64")->AsSigned(), int64_t{-1} << 40);
  EXPECT_EQ(metadata.FindFloat("f32"), 1.5);
  EXPECT_EQ(metadata.FindFloat("f64"), 0.1);
  EXPECT_EQ(metadata.FindBool("yes"), true);
  EXPECT_EQ(metadata.FindBool("no"), false);
  EXPECT_EQ(metadata.FindString("text"), "Grüße");
  EXPECT_EQ(metadata.Find("numbers")->Element(1).AsSigned(), -2);
  const GgufStrings words = *metadata.FindStrings("words");
  EXPECT_THAT(std::vector<std::string>(words.begin(), words.end()), testing::ElementsAre("a", "", "ccc"));
  EXPECT_EQ(metadata.FindString("absent"), std::nullopt);
}

TEST(Gguf, ValuesPointIntoTheFile) {
  GgufWriter writer;
  writer.Add("general.name", "model").FloatTensor("a", {2}, {1.0f, 2.0f});
  const std::string bytes = writer.Bytes();
  const GgufFile file = GgufFile::Parse(AsBytes(bytes), kLabel);
  const std::string_view name = *file.metadata().FindString("general.name");
  EXPECT_GE(name.data(), bytes.data());
  EXPECT_LT(name.data(), bytes.data() + bytes.size());
  EXPECT_EQ(LoadLittleEndian<float>(file.FindTensor("a")->data.data() + 4), 2.0f);
}

TEST(Gguf, GettersNameKeyAndType) {
  GgufWriter writer;
  writer.Add("k", "text").Add("n", int32_t{-1}).Add("big", uint64_t{1} << 32);
  const std::string bytes = writer.Bytes();
  const GgufFile file = GgufFile::Parse(AsBytes(bytes), kLabel);
  ExpectBadData([&] { file.metadata().FindUInt32("k"); }, {kLabel, "'k'", "string", "integer"});
  ExpectBadData([&] { file.metadata().FindUInt32("n"); }, {"'n'", "-1", "negative"});
  ExpectBadData([&] { file.metadata().FindUInt32("big"); }, {"'big'", "4294967296"});
  ExpectBadData([&] { file.metadata().FindStrings("k"); }, {"'k'", "array of strings"});
  ExpectBadData([&] { file.metadata().RequireString("gone"); }, {"'gone'", "missing"});
}

TEST(Gguf, ReadsVersionTwo) {
  GgufWriter writer = OneTensor();
  writer.version = 2;
  const std::string bytes = writer.Bytes();
  EXPECT_EQ(GgufFile::Parse(AsBytes(bytes), kLabel).tensors().size(), 1u);
}

TEST(Gguf, KnowsTheSizeOfEveryElementType) {
  GgufWriter writer;
  std::vector<uint32_t> numbers;
  for (uint32_t number = 0; number < 64; ++number) {
    if (!FindGgmlType(number)) continue;
    numbers.push_back(number);
    writer.Tensor("t" + std::to_string(number), number, {256, 3});
  }
  const std::string bytes = writer.Bytes();
  const GgufFile file = GgufFile::Parse(AsBytes(bytes), kLabel);
  ASSERT_EQ(file.tensors().size(), numbers.size());
  EXPECT_EQ(numbers.size(), 35u);
  EXPECT_EQ(file.FindTensor("t12")->data.size(), 3u * 144);     // q4_K: 4.5 bits
  EXPECT_EQ(file.FindTensor("t8")->data.size(), 3u * 8 * 34);   // q8_0: 8.5 bits
  EXPECT_EQ(file.FindTensor("t40")->data.size(), 3u * 4 * 36);  // nvfp4: 4.5 bits
}

TEST(Gguf, RefusesMagicAlone) {
  ExpectBadData([] { Read("GGUF"); }, {kLabel, "ends inside", "4 bytes"});
}

TEST(Gguf, RefusesEveryShorterPrefixOfAFile) {
  GgufWriter writer = OneTensor();
  writer.Add("words", std::vector<std::string>{"a", "bb"}).Add("numbers", std::vector<float>{1, 2});
  const std::string file = writer.Bytes();
  for (size_t length = 0; length < file.size(); ++length) {
    ExpectBadData([&] { Read(file.substr(0, length)); }, {kLabel});
  }
  Read(file);
}

TEST(Gguf, RefusesOtherVersionsAndByteOrders) {
  GgufWriter writer = OneTensor();
  writer.version = 1;
  ExpectRefused(writer, {"version 1"});
  writer.version = 4;
  ExpectRefused(writer, {"version is 4"});
  writer.version = 0;
  ExpectRefused(writer, {"version is 0"});
  writer.version = 0x03000000;
  ExpectRefused(writer, {"big-endian"});
  writer = OneTensor();
  writer.magic = "GGML";
  ExpectRefused(writer, {"GGUF"});
}

TEST(Gguf, RefusesCountsThatTheFileCannotHold) {
  GgufWriter writer = OneTensor();
  // Products of these with an entry size wrap around 2^64.
  for (const uint64_t count :
       {UINT64_MAX, UINT64_MAX / 24 + 1, UINT64_MAX / 80 + 1, uint64_t{1} << 63, uint64_t{1000}}) {
    writer.announced_tensors = count;
    writer.announced_entries = std::nullopt;
    ExpectRefused(writer, {std::to_string(count) + " tensors"});
    writer.announced_tensors = std::nullopt;
    writer.announced_entries = count;
    ExpectRefused(writer, {std::to_string(count) + " metadata keys"});
  }
}

TEST(Gguf, RefusesStringsBeyondTheFile) {
  GgufWriter writer;
  writer.AddRaw("k", GgufValueType::kString, GgufWriter::Little(uint64_t{1} << 40) + "abc");
  ExpectRefused(writer, {"'k'", "1099511627776", "3 are left"});
  writer = GgufWriter();
  writer.AddRaw("k", GgufValueType::kString, GgufWriter::Little(UINT64_MAX) + "abc");
  ExpectRefused(writer, {"'k'", "18446744073709551615"});
}

TEST(Gguf, RefusesArraysBeyondTheFile) {
  const auto array = [](GgufValueType type, uint64_t count) {
    GgufWriter writer;
    writer.AddRaw("k", GgufValueType::kArray,
                  GgufWriter::Little(static_cast<uint32_t>(type)) + GgufWriter::Little(count) + std::string(16, '\0'));
    return writer;
  };
  ExpectRefused(array(GgufValueType::kUInt64, 3), {"'k'", "3 elements", "16 bytes"});
  ExpectRefused(array(GgufValueType::kUInt64, (uint64_t{1} << 61) + 1), {"'k'"});
  ExpectRefused(array(GgufValueType::kString, uint64_t{1} << 61), {"'k'"});
  ExpectRefused(array(GgufValueType::kString, 3), {"'k'"});
  Read(array(GgufValueType::kUInt64, 2).Bytes());
}

TEST(Gguf, RefusesArraysOfArrays) {
  GgufWriter writer;
  writer.AddRaw("k", GgufValueType::kArray,
                GgufWriter::Little(uint32_t{9}) + GgufWriter::Little(uint64_t{1}) + std::string(64, '\0'));
  ExpectRefused(writer, {"'k'", "array of arrays"});
}

TEST(Gguf, RefusesUnknownValueTypes) {
  GgufWriter writer;
  writer.AddRaw("k", 13u, std::string(8, '\0'));
  ExpectRefused(writer, {"'k'", "value type 13"});
  writer = GgufWriter();
  writer.AddRaw("k", GgufValueType::kBool, std::string(1, '\7'));
  ExpectRefused(writer, {"'k'", "bool", "7"});
}

TEST(Gguf, RefusesBadKeys) {
  GgufWriter writer;
  writer.allow_duplicates = true;
  writer.Add("k", 1u).Add("k", 2u);
  ExpectRefused(writer, {"'k'", "twice"});
  writer = GgufWriter();
  writer.Add("", 1u);
  ExpectRefused(writer, {"empty"});
  writer = GgufWriter();
  writer.Add(std::string("a\0b", 3), 1u);
  ExpectRefused(writer, {"zero byte", "'a\\x00b'"});
}

TEST(Gguf, RefusesBadAlignment) {
  GgufWriter writer = OneTensor();
  writer.Add("general.alignment", "32");
  ExpectRefused(writer, {"general.alignment", "string"});
  writer.Add("general.alignment", uint64_t{32});
  ExpectRefused(writer, {"general.alignment", "uint64"});
  for (const uint32_t alignment : {uint32_t{0}, uint32_t{24}, uint32_t{1} << 31, UINT32_MAX}) {
    writer.Add("general.alignment", alignment);
    ExpectRefused(writer, {"general.alignment", std::to_string(alignment)});
  }
}

TEST(Gguf, FollowsTheAlignmentOfTheFile) {
  GgufWriter writer;
  writer.alignment = 128;
  writer.Add("general.alignment", uint32_t{128}).FloatTensor("a", {1}, {1}).FloatTensor("b", {1}, {2});
  const std::string bytes = writer.Bytes();
  const GgufFile file = GgufFile::Parse(AsBytes(bytes), kLabel);
  EXPECT_EQ(file.data_offset() % 128, 0u);
  EXPECT_EQ(file.FindTensor("b")->offset, 128u);
  EXPECT_EQ(LoadLittleEndian<float>(file.FindTensor("b")->data.data()), 2.0f);
}

TEST(Gguf, NamesBothSizesWhenTheDataIsCutShort) {
  GgufWriter writer;
  writer.Tensor("a", GgmlType::kF32, {16, 4});
  const std::string file = writer.Bytes();
  ExpectBadData([&] { Read(file.substr(0, file.size() - 100)); },
                {kLabel, "'a'", "256 bytes", "156 bytes", "cut short"});
}

TEST(Gguf, RefusesOffsetsThatWrap) {
  GgufWriter writer;
  writer.Tensor("a", GgmlType::kF32, {8}, {}, UINT64_MAX - 31);
  ExpectRefused(writer, {"'a'", std::to_string(UINT64_MAX - 31)});
}

TEST(Gguf, RefusesUnalignedOffsets) {
  GgufWriter writer;
  writer.Tensor("a", GgmlType::kF32, {8}, std::string(64, '\0'), 4);
  ExpectRefused(writer, {"'a'", "offset 4", "alignment 32"});
}

TEST(Gguf, RefusesOverlappingTensors) {
  GgufWriter writer;
  writer.Tensor("first", GgmlType::kF32, {16}).Tensor("second", GgmlType::kF32, {16}, {}, 32);
  ExpectRefused(writer, {"'first'", "'second'", "overlap"});
  writer = GgufWriter();
  writer.Tensor("first", GgmlType::kF32, {8}).Tensor("second", GgmlType::kF32, {8}, {}, 0);
  ExpectRefused(writer, {"overlap"});
}

TEST(Gguf, RefusesBadTensorNames) {
  GgufWriter writer = OneTensor();
  writer.Tensor("a", GgmlType::kF32, {4});
  ExpectRefused(writer, {"two tensors", "'a'"});
  writer = GgufWriter();
  writer.Tensor(std::string(64, 'n'), GgmlType::kF32, {4});
  ExpectRefused(writer, {"64 bytes"});
  writer = GgufWriter();
  writer.Tensor(std::string("a\0b", 3), GgmlType::kF32, {4});
  ExpectRefused(writer, {"zero byte"});
  writer = GgufWriter();
  writer.Tensor("", GgmlType::kF32, {4});
  ExpectRefused(writer, {"no name"});
}

TEST(Gguf, RefusesBadShapes) {
  GgufWriter writer;
  writer.Tensor("a", GgmlType::kF32, {1, 1, 1, 1, 1});
  ExpectRefused(writer, {"'a'", "5 dimensions"});
  for (const std::vector<uint64_t>& dims : std::vector<std::vector<uint64_t>>{{uint64_t{1} << 32, uint64_t{1} << 32},
                                                                              {uint64_t{1} << 63},
                                                                              {UINT64_MAX, 2},
                                                                              {uint64_t{1} << 62, 2, 0},
                                                                              {0, UINT64_MAX, UINT64_MAX}}) {
    writer = GgufWriter();
    writer.Tensor("a", GgmlType::kF32, dims, std::string(64, '\0'));
    ExpectRefused(writer, {"'a'", "63 bits"});
  }
  writer = GgufWriter();
  writer.Tensor("a", GgmlType::kF32, {uint64_t{1} << 62}, std::string(64, '\0'));
  ExpectRefused(writer, {"'a'", "64 bits"});
  writer = GgufWriter();
  writer.Tensor("a", GgmlType::kQ4_K, {128}, std::string(144, '\0'));
  ExpectRefused(writer, {"'a'", "128 elements", "q4_K", "256"});
}

TEST(Gguf, NamesUnknownElementTypes) {
  GgufWriter writer;
  writer.Tensor("a", 31u, {32});
  ExpectRefused(writer, {"'a'", "q4_0_4_4", "removed"});
  writer = GgufWriter();
  writer.Tensor("a", 4711u, {32});
  ExpectRefused(writer, {"'a'", "4711", "unknown"});
}

TEST(Gguf, AcceptsAVocabularyWithoutTensors) {
  GgufWriter writer;
  writer.Add("tokenizer.ggml.tokens", std::vector<std::string>{"a"});
  const std::string bytes = writer.Bytes();
  EXPECT_TRUE(GgufFile::Parse(AsBytes(bytes), kLabel).tensors().empty());
}

TEST(Gguf, ForeignTextInMessagesIsShortAndPrintable) {
  GgufWriter writer;
  writer.Tensor("\x1b[31m\xff", GgmlType::kQ4_0, {1}, std::string(32, '\0'));
  ExpectRefused(writer, {"'\\x1b[31m\\xff'"});
}

}  // namespace
}  // namespace owml::test
