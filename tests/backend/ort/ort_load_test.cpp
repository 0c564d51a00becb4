// What Load accepts, what it refuses and with which sentence.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <map>

#include "backend/ort/ort_fixture.h"
#include "support/onnx_writer.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const HRESULT kInvalidData = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
const HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

std::string TwoFloats(float first, float second) {
  const float values[] = {first, second};
  return std::string(reinterpret_cast<const char*>(values), sizeof values);
}

ProtobufWriter Weights(const std::string& location, const std::string& offset = "0", const std::string& length = "8") {
  return OnnxExternalTensor("w", kOnnxFloat, {2}, {{"location", location}, {"offset", offset}, {"length", length}});
}

std::vector<float> AddOneTwo(const BackendModel& model) {
  const auto session = model.CreateSession({});
  const HostTensor x = Floats({2}, {1, 2});
  return ValuesOf<float>(FirstOutput(*session, {Bound(x)}).view);
}

class Resources : public ResourceMap {
 public:
  explicit Resources(std::map<std::string, std::string> entries) : entries_(std::move(entries)) {}
  std::optional<std::span<const std::byte>> Find(const std::string& key) const override {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return std::nullopt;
    return std::as_bytes(std::span(entry->second));
  }
  std::vector<std::string> Keys() const override { return {}; }

 private:
  std::map<std::string, std::string> entries_;
};

ModelSource BufferWithMap(const std::string& bytes, std::map<std::string, std::string> entries) {
  ModelSource source = Buffer(bytes);
  source.resources = std::make_shared<Resources>(std::move(entries));
  return source;
}

TEST(OrtLoad, DeclaresNamesTypesExtentsAndSymbols) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {"batch", 4}).Input("w", kOnnxFloat, {4}).Output("y", kOnnxFloat, {"batch", 4});
  model.Node(OnnxNode("Add", {"x", "w"}, {"y"})).Initializer(OnnxTensor("w", kOnnxFloat, {4}, std::string(16, '\0')));
  const auto loaded = Load(Buffer(model.Bytes()));
  const Schema& schema = *loaded->declared_schema();
  ASSERT_EQ(schema.inputs.size(), 1u) << "an initializer with a default is no input";
  EXPECT_EQ(schema.inputs[0].name, "x");
  EXPECT_EQ(schema.inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(schema.inputs[0].dims, (Dims{kFreeDimension, 4}));
  EXPECT_EQ(schema.inputs[0].dim_names, (std::vector<std::string>{"batch", ""}));
  ASSERT_EQ(schema.outputs.size(), 1u);
  EXPECT_EQ(schema.outputs[0].name, "y");
  EXPECT_TRUE(loaded->is_onnx());
}

TEST(OrtLoad, RunsAFileInAFolderWithSpacesAccentsAndCjk) {
  const TemporaryFolder folder;
  const auto path = folder.Write("dossier d'été 模型/modèle 一.onnx",
                                 AddModel(OnnxTensor("w", kOnnxFloat, {2}, TwoFloats(10, 20))).Bytes());
  EXPECT_EQ(AddOneTwo(*Load(File(path))), (std::vector<float>{11, 22}));
}

TEST(OrtLoad, RefusesTypesThatTheApiCannotCarryAndNamesTheInput) {
  for (const auto& [type, name] :
       std::map<int32_t, std::string>{{kOnnxString, "string"}, {14, "complex64"}, {17, "float8e4m3fn"}}) {
    OnnxWriter model;
    model.Input("first", kOnnxFloat, {1}).Input("words", type, {1}).Output("y", type, {1});
    model.Node(OnnxNode("Identity", {"words"}, {"y"}));
    const auto [code, sentence] = ErrorOf([&] { Load(Buffer(model.Bytes())); });
    EXPECT_EQ(code, kNotSupported);
    EXPECT_THAT(sentence, AllOf(HasSubstr("input 1 'words'"), HasSubstr(name)));
  }
}

TEST(OrtLoad, RefusesSequencesMapsAndOptionalsAndNamesTheOutput) {
  const ProtobufWriter tensor = ProtobufWriter().Message(1, ProtobufWriter().Varint(1, kOnnxFloat));
  const std::map<uint32_t, std::string> kinds = {
      {4, "a sequence"}, {5, "a map"}, {8, "a sparse tensor"}, {9, "an optional"}};
  for (const auto& [field, name] : kinds) {
    const ProtobufWriter inner =
        field == 8 ? ProtobufWriter().Varint(1, kOnnxFloat) : ProtobufWriter().Message(1, tensor);
    OnnxWriter model;
    model.Input("x", kOnnxFloat, {1});
    model.graph().Message(12, ProtobufWriter().Bytes(1, "result").Message(2, ProtobufWriter().Message(field, inner)));
    const auto [code, sentence] = ErrorOf([&] { Load(Buffer(model.Bytes())); });
    EXPECT_EQ(code, kNotSupported);
    EXPECT_THAT(sentence, AllOf(HasSubstr("output 0 'result'"), HasSubstr(name)));
  }
}

TEST(OrtLoad, RefusesAnInputWithoutTypeInformation) {
  OnnxWriter model;
  model.InputValue(ProtobufWriter().Bytes(1, "x")).Output("y", kOnnxFloat, {1});
  model.Node(OnnxNode("Identity", {"x"}, {"y"}));
  const auto [code, sentence] = ErrorOf([&] { Load(Buffer(model.Bytes())); });
  EXPECT_EQ(code, kInvalidData);
  EXPECT_THAT(sentence, AllOf(HasSubstr("input 0 'x'"), HasSubstr("no type information")));
}

TEST(OrtLoad, SettlesAnOutputWithoutTypeInformationAtBuild) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {3});
  model.graph().Message(12, ProtobufWriter().Bytes(1, "y"));
  model.Node(OnnxNode("Neg", {"x"}, {"y"}));
  const auto loaded = Load(Buffer(model.Bytes()));
  EXPECT_EQ(loaded->declared_schema()->outputs[0].dtype, DType::kUndefined);
  const auto session = loaded->CreateSession({});
  EXPECT_EQ(session->schema().outputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(session->schema().outputs[0].dims, (Dims{3}));
}

TEST(OrtLoad, NamesTheFileWhoseProtobufIsCutShort) {
  const TemporaryFolder folder;
  const std::string whole = AddModel(OnnxTensor("w", kOnnxFloat, {2}, TwoFloats(1, 2))).Bytes();
  const auto path = folder.Write("cut.onnx", whole.substr(0, whole.size() / 2));
  const auto [code, sentence] = ErrorOf([&] { Load(File(path)); });
  EXPECT_EQ(code, kInvalidData);
  EXPECT_THAT(sentence, HasSubstr("cut.onnx"));
}

TEST(OrtLoad, RefusesATinyFileThatAnnouncesGigabytes) {
  ProtobufWriter file;
  file.Varint(1, 8).Announced(7, uint64_t{3} << 30, "tiny");
  const auto [code, sentence] = ErrorOf([&] { Load(Buffer(file.bytes())); });
  EXPECT_EQ(code, kInvalidData);

  // An initializer of 2^31 elements with no data behind it must not be allocated.
  OnnxWriter model = AddModel(OnnxTensor("w", kOnnxFloat, {int64_t{1} << 31}, ""));
  EXPECT_NE(ErrorOf([&] { Session(model.Bytes()); }).first, S_OK);
}

TEST(OrtLoad, ReportsAGraphThatOnnxRuntimeRefusesAtBuild) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {1}).Output("y", kOnnxFloat, {1}).Node(OnnxNode("NoSuchOperator", {"x"}, {"y"}));
  const auto loaded = Load(Buffer(model.Bytes()));
  const auto [code, sentence] = ErrorOf([&] { loaded->CreateSession({}); });
  EXPECT_NE(code, S_OK);
  EXPECT_THAT(sentence, HasSubstr("NoSuchOperator"));
}

TEST(OrtLoad, ReadsExternalDataBesideTheFile) {
  const TemporaryFolder folder;
  folder.Write("w.bin", TwoFloats(0, 0) + TwoFloats(5, 6));
  const auto path = folder.Write("m.onnx", AddModel(Weights("w.bin", "8")).Bytes());
  EXPECT_EQ(AddOneTwo(*Load(File(path))), (std::vector<float>{6, 8}));
}

TEST(OrtLoad, ReadsExternalDataOfAModelMadeOfLinksIntoABlobStore) {
  const TemporaryFolder folder;
  folder.Write("blobs/1111", AddModel(Weights("w.bin")).Bytes());
  folder.Write("blobs/2222", TwoFloats(5, 6));
  std::filesystem::create_directories(folder.path() / "snapshots/a");
  std::filesystem::create_symlink("../../blobs/1111", folder.path() / "snapshots/a/m.onnx");
  std::filesystem::create_symlink("../../blobs/2222", folder.path() / "snapshots/a/w.bin");
  EXPECT_EQ(AddOneTwo(*Load(File(folder.path() / "snapshots/a/m.onnx"))), (std::vector<float>{6, 8}));
}

TEST(OrtLoad, RefusesExternalDataOutsideTheFolder) {
  const TemporaryFolder folder;
  const auto secret = folder.Write("secret.bin", TwoFloats(5, 6));
  for (const std::string& location : {std::string("../secret.bin"), secret.string()}) {
    const auto path = folder.Write("model/m.onnx", AddModel(Weights(location)).Bytes());
    EXPECT_EQ(ErrorOf([&] { Load(File(path)); }).first, kInvalidData) << location;
  }
  const auto path = folder.Write("model/m.onnx", AddModel(Weights("link.bin")).Bytes());
  std::filesystem::create_symlink(secret, folder.path() / "model/link.bin");
  EXPECT_EQ(ErrorOf([&] { Load(File(path)); }).first, kInvalidData) << "a link that leads out";
}

TEST(OrtLoad, RefusesExternalDataWhoseEndWrapsOrLiesBeyondTheFile) {
  const TemporaryFolder folder;
  folder.Write("w.bin", TwoFloats(5, 6));
  for (const char* offset : {"18446744073709551612", "4"}) {
    const auto path = folder.Write("m.onnx", AddModel(Weights("w.bin", offset)).Bytes());
    EXPECT_EQ(ErrorOf([&] { Load(File(path)); }).first, kInvalidData) << offset;
  }
}

TEST(OrtLoad, RefusesABufferWithExternalDataAndNoResourceMap) {
  const auto [code, sentence] = ErrorOf([&] { Load(Buffer(AddModel(Weights("w.bin")).Bytes())); });
  EXPECT_EQ(code, kInvalidData);
  EXPECT_THAT(sentence, AllOf(HasSubstr("'w'"), HasSubstr("'w.bin'"), HasSubstr("resource map")));
}

TEST(OrtLoad, TakesExternalDataOfABufferFromTheResourceMap) {
  const auto model =
      Load(BufferWithMap(AddModel(Weights("w.bin", "4")).Bytes(), {{"w.bin", "0000" + TwoFloats(7, 8)}}));
  EXPECT_EQ(AddOneTwo(*model), (std::vector<float>{8, 10}));
}

TEST(OrtLoad, ReadsAlignedResourcesWhereTheyLie) {
  const auto resources = std::make_shared<Resources>(std::map<std::string, std::string>{{"w.bin", TwoFloats(7, 8)}});
  ModelSource source = Buffer(AddModel(Weights("w.bin")).Bytes());
  source.resources = resources;
  const auto session = Load(source)->CreateSession({});
  const HostTensor x = Floats({2}, {0, 0});
  const float changed[] = {1, 2};
  std::memcpy(const_cast<std::byte*>(resources->Find("w.bin")->data()), changed, sizeof changed);
  EXPECT_EQ(ValuesOf<float>(FirstOutput(*session, {Bound(x)}).view), (std::vector<float>{1, 2}));
}

TEST(OrtLoad, RefusesAResourceMapThatLacksTheKeyOrTheBytes) {
  const std::string bytes = AddModel(Weights("w.bin")).Bytes();
  const auto missing = ErrorOf([&] { Load(BufferWithMap(bytes, {{"other", TwoFloats(7, 8)}})); });
  EXPECT_EQ(missing.first, kInvalidData);
  EXPECT_THAT(missing.second, HasSubstr("'w.bin'"));
  EXPECT_EQ(ErrorOf([&] { Load(BufferWithMap(bytes, {{"w.bin", "1234"}})); }).first, kInvalidData);
}

TEST(OrtLoad, AModelFileDoesNotTakeDataFromTheResourceMap) {
  const TemporaryFolder folder;
  folder.Write("w.bin", TwoFloats(5, 6));
  ModelSource source = File(folder.Write("m.onnx", AddModel(Weights("w.bin")).Bytes()));
  source.resources = std::make_shared<Resources>(std::map<std::string, std::string>{{"w.bin", TwoFloats(70, 80)}});
  EXPECT_EQ(AddOneTwo(*Load(source)), (std::vector<float>{6, 8}));
}

TEST(OrtLoad, NoticesAFileThatWasReplacedSinceItWasLoaded) {
  const TemporaryFolder folder;
  const auto path = folder.Write("m.onnx", AddModel(OnnxTensor("w", kOnnxFloat, {2}, TwoFloats(1, 2))).Bytes());
  const auto model = Load(File(path));
  OnnxWriter other;
  other.Input("a", kOnnxFloat, {2}).Output("b", kOnnxFloat, {2}).Node(OnnxNode("Neg", {"a"}, {"b"}));
  std::filesystem::rename(folder.Write("new.onnx", other.Bytes()), path);
  EXPECT_EQ(ErrorOf([&] { model->CreateSession({}); }).first, kInvalidData);
}

TEST(OrtLoad, RefusesWhatIsNoRegularReadableFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "folder.onnx");
  EXPECT_EQ(ErrorOf([&] { Load(File(folder.path() / "folder.onnx")); }).first, E_INVALIDARG);
  EXPECT_EQ(ErrorOf([&] { Load(File(folder.path() / "none.onnx")); }).first, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
}

TEST(OrtLoad, RefusesBytesThatOnlyPretendToBeOrtFormat) {
  const std::string bytes = std::string("\x10\0\0\0ORTM", 8) + std::string(64, '\x7f');
  const auto [code, sentence] = ErrorOf([&] { Load(Buffer(bytes), ModelFormat::kOrtFlatbuffer); });
  EXPECT_NE(code, S_OK);
  EXPECT_THAT(sentence, HasSubstr("the model buffer"));
}

}  // namespace
}  // namespace owml::test
