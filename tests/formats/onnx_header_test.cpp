// The ONNX header reader: what it tells about a model, and how it refuses damaged ones.
#include "formats/onnx_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "formats/expect_error.h"
#include "support/gguf_writer.h"
#include "support/onnx_writer.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

constexpr char kLabel[] = "'m.onnx'";

OnnxHeader Read(const std::string& bytes) { return ReadOnnxHeader(AsBytes(bytes), kLabel); }

void ExpectRefused(const std::string& bytes, std::vector<std::string> words) {
  words.push_back(kLabel);
  ExpectBadData([&] { Read(bytes); }, words);
}

std::vector<std::string> Locations(const OnnxHeader& header) {
  std::vector<std::string> locations;
  for (const OnnxExternalData& data : header.external_data) locations.emplace_back(data.location);
  return locations;
}

ProtobufWriter At(const std::string& location, const std::string& name = "w") {
  return OnnxExternalTensor(name, kOnnxFloat, {2}, {{"location", location}});
}

TEST(OnnxHeader, TellsVersionsInputsAndOutputs) {
  OnnxWriter writer;
  writer.Input("x", kOnnxFloat16, {"batch", 3, OnnxDim("")}).Output("y", kOnnxInt64, {});
  writer.Node(OnnxNode("Foo", {"x"}, {"y"}));
  writer.model().Message(8, ProtobufWriter().Bytes(1, "com.example").Varint(2, 1));
  const std::string bytes = writer.Bytes();
  const OnnxHeader header = Read(bytes);
  EXPECT_EQ(header.ir_version, 8);
  EXPECT_EQ(header.producer_name, "tests");
  EXPECT_EQ(header.graph_name, "graph");
  EXPECT_EQ(header.node_count, 1u);
  ASSERT_EQ(header.opsets.size(), 2u);
  EXPECT_EQ(header.opsets[1].domain, "com.example");
  ASSERT_EQ(header.inputs.size(), 1u);
  const OnnxValue& x = header.inputs[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.kind, OnnxValueKind::kTensor);
  EXPECT_EQ(OnnxElementTypeName(x.element_type), "float16");
  ASSERT_EQ(x.dims.size(), 3u);
  EXPECT_EQ(x.dims[0].symbol, "batch");
  EXPECT_EQ(x.dims[1].value, 3);
  EXPECT_FALSE(x.dims[2].value);
  EXPECT_TRUE(header.outputs[0].has_shape);
  EXPECT_TRUE(header.outputs[0].dims.empty());
}

TEST(OnnxHeader, TellsWhichInputsAreInitializers) {
  OnnxWriter writer = AddModel(OnnxTensor("w", kOnnxFloat, {2}, "12345678"));
  writer.Input("w", kOnnxFloat, {2});
  const std::string bytes = writer.Bytes();
  const OnnxHeader header = Read(bytes);
  EXPECT_EQ(header.inputs.size(), 2u);
  EXPECT_TRUE(header.IsInitializer("w"));
  EXPECT_FALSE(header.IsInitializer("x"));
}

TEST(OnnxHeader, TellsMissingTypeInformation) {
  OnnxWriter writer;
  writer.InputValue(ProtobufWriter().Bytes(1, "no type"));
  writer.InputValue(
      ProtobufWriter().Bytes(1, "no rank").Message(2, ProtobufWriter().Message(1, ProtobufWriter().Varint(1, 1))));
  writer.InputValue(ProtobufWriter().Bytes(1, "list").Message(2, ProtobufWriter().Message(4, ProtobufWriter())));
  writer.InputValue(ProtobufWriter().Bytes(1, "no element").Message(2, ProtobufWriter().Message(1, ProtobufWriter())));
  const std::string bytes = writer.Bytes();
  const OnnxHeader header = Read(bytes);
  EXPECT_EQ(header.inputs[0].kind, OnnxValueKind::kMissing);
  EXPECT_EQ(header.inputs[1].kind, OnnxValueKind::kTensor);
  EXPECT_FALSE(header.inputs[1].has_shape);
  EXPECT_EQ(header.inputs[2].kind, OnnxValueKind::kSequence);
  EXPECT_EQ(header.inputs[3].element_type, 0);
}

TEST(OnnxHeader, FindsExternalDataWhereverATensorCanStand) {
  OnnxWriter writer = AddModel(At("initializer"));
  writer.Node(OnnxNode("Constant", {}, {"c"}, {OnnxTensorAttribute("value", At("attribute"))}));
  writer.Node(OnnxNode("Foo", {}, {"d"}, {ProtobufWriter().Bytes(1, "values").Message(10, At("attribute list"))}));
  const ProtobufWriter inner = ProtobufWriter().Message(5, At("inner graph"));
  const ProtobufWriter outer = ProtobufWriter()
                                   .Message(1, OnnxNode("If", {}, {}, {OnnxGraphAttribute("then_branch", inner)}))
                                   .Message(5, At("outer graph"));
  writer.Node(OnnxNode("If", {"c"}, {"e"}, {OnnxGraphAttribute("then_branch", outer)}));
  writer.Node(OnnxNode("Foo", {}, {"f"}, {ProtobufWriter().Bytes(1, "graphs").Message(11, inner)}));
  writer.Node(
      OnnxNode("Foo", {}, {"g"},
               {ProtobufWriter().Bytes(1, "sparse").Message(22, ProtobufWriter().Message(1, At("sparse value")))}));
  writer.graph().Message(15, ProtobufWriter().Message(1, At("sparse values", "s")).Message(2, At("sparse indices")));
  writer.model().Message(
      25, ProtobufWriter().Message(7, OnnxNode("Constant", {}, {"h"}, {OnnxTensorAttribute("value", At("function"))})));
  writer.model().Message(25, ProtobufWriter().Message(11, OnnxTensorAttribute("value", At("function default"))));
  writer.model().Message(20, ProtobufWriter().Message(1, ProtobufWriter().Message(5, At("training"))));
  const std::string bytes = writer.Bytes();
  const OnnxHeader header = Read(bytes);
  EXPECT_THAT(Locations(header),
              testing::UnorderedElementsAre("initializer", "attribute", "attribute list", "inner graph", "outer graph",
                                            "inner graph", "sparse value", "sparse values", "sparse indices",
                                            "function", "function default", "training"));
  EXPECT_TRUE(header.IsInitializer("s"));
}

TEST(OnnxHeader, TellsOffsetLengthAndChecksum) {
  const std::string bytes =
      AddModel(OnnxExternalTensor("w", kOnnxFloat, {2, 3},
                                  {{"location", "w.bin"}, {"offset", "4096"}, {"length", "24"}, {"checksum", "ab"}}))
          .Bytes();
  const OnnxHeader header = Read(bytes);
  ASSERT_EQ(header.external_data.size(), 1u);
  EXPECT_EQ(header.external_data[0].tensor, "w");
  EXPECT_EQ(header.external_data[0].offset, 4096u);
  EXPECT_EQ(header.external_data[0].length, 24u);
  EXPECT_EQ(header.external_data[0].checksum, "ab");
  EXPECT_EQ(header.external_data[0].tensor_bytes, 24u);
}

TEST(OnnxHeader, RefusesDamagedExternalData) {
  const auto model = [](std::vector<std::pair<std::string, std::string>> entries) {
    return AddModel(OnnxExternalTensor("w", kOnnxFloat, {2}, entries)).Bytes();
  };
  ExpectRefused(model({}), {"'w'", "no location"});
  ExpectRefused(model({{"location", "a"}, {"offset", "-1"}}), {"offset", "'w'", "'-1'"});
  ExpectRefused(model({{"location", "a"}, {"offset", "18446744073709551616"}}), {"offset", "18446744073709551616"});
  ExpectRefused(model({{"location", "a"}, {"length", "x"}}), {"length", "'x'"});
  ExpectRefused(model({{"location", "a"}, {"offset", "18446744073709551615"}, {"length", "8"}}), {"2^64"});
  ExpectRefused(model({{"location", "a"}, {"length", "7"}}), {"'w'", "7 bytes", "need 8"});
  ExpectRefused(AddModel(OnnxExternalTensor("w", kOnnxFloat, {-1}, {{"location", "a"}})).Bytes(), {"'w'", "negative"});
  ExpectRefused(AddModel(OnnxExternalTensor("w", kOnnxFloat, {int64_t{1} << 62, 4}, {{"location", "a"}})).Bytes(),
                {"'w'", "too large"});
  ExpectRefused(AddModel(OnnxExternalTensor("w", kOnnxString, {1}, {{"location", "a"}})).Bytes(), {"string"});
}

TEST(OnnxHeader, RefusesTheMarkerForAnAddressInMemory) {
  ExpectRefused(AddModel(At("*/_ORT_MEM_ADDR_/*")).Bytes(), {"'w'", "address in memory"});
}

TEST(OnnxHeader, RefusesFilesThatProtobufCannotHold) {
  const TemporaryFolder folder;
  const auto path = folder.Write("m.onnx", "m");
  std::filesystem::resize_file(path, uint64_t{3} << 30);  // a hole: takes no space
  const auto file = MappedFile::Open(path);
  ExpectBadData([&] { ReadOnnxHeader(file->bytes(), kLabel); }, {kLabel, "3221225472", "external data"});
}

TEST(OnnxHeader, RefusesEveryCutInsideTheGraph) {
  const std::string bytes = AddModel(OnnxTensor("w", kOnnxFloat, {2}, "12345678")).Bytes();
  for (size_t length = 0; length < bytes.size(); ++length) ExpectRefused(bytes.substr(0, length), {});
  Read(bytes);
}

TEST(OnnxHeader, RefusesGigabytesAnnouncedInATinyFile) {
  for (const uint64_t length : {uint64_t{1} << 31, uint64_t{3} << 30, UINT64_MAX}) {
    const std::string bytes = ProtobufWriter().Varint(1, 8).Announced(7, length, "graph").bytes();
    ExpectRefused(bytes, {std::to_string(length), "only 5 are left"});
  }
  const std::string initializer = ProtobufWriter().Varint(2, 1).Announced(9, uint64_t{1} << 31, "data").bytes();
  const std::string nested =
      ProtobufWriter().Varint(1, 8).Message(7, ProtobufWriter().Message(5, ProtobufWriter().Raw(initializer))).bytes();
  ExpectRefused(nested, {"2147483648", "only 4 are left"});
}

TEST(OnnxHeader, RefusesWhatIsNoProtobuf) {
  ExpectRefused("", {"empty"});
  ExpectRefused(std::string(1, '\x08'), {"ends inside"});
  ExpectRefused("\x08" + std::string(11, '\xff'), {"64 bits"});
  ExpectRefused("\x0b", {"wire type 3"});
  ExpectRefused(std::string("\x00\x00", 2), {"number 0"});
  ExpectRefused(ProtobufWriter().Bytes(1, "text").bytes(), {"ir_version", "wire type 2"});
  ExpectRefused(ProtobufWriter().Varint(1, 8).bytes(), {"no graph"});
}

TEST(OnnxHeader, RefusesSubgraphsWithoutEnd) {
  ProtobufWriter graph;
  for (int depth = 1; depth < kOnnxMaxGraphDepth; ++depth) {
    graph = ProtobufWriter().Message(1, OnnxNode("If", {}, {}, {OnnxGraphAttribute("then_branch", graph)}));
  }
  Read(ProtobufWriter().Varint(1, 8).Message(7, graph).bytes());
  for (int depth = 0; depth < 1000; ++depth) {
    graph = ProtobufWriter().Message(1, OnnxNode("If", {}, {}, {OnnxGraphAttribute("then_branch", graph)}));
  }
  ExpectRefused(ProtobufWriter().Varint(1, 8).Message(7, graph).bytes(), {"nested more than 32 deep"});
}

TEST(OnnxHeader, RefusesValuesOfAbsurdRank) {
  ExpectRefused(OnnxWriter().Input("x", kOnnxFloat, std::vector<OnnxDim>(65, 1)).Bytes(), {"'x'", "64 dimensions"});
}

}  // namespace
}  // namespace owml::test
