// Which backend takes a model, and what is refused before any backend sees it.
#include "backend/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "backend/engine_choice.h"
#include "base/error.h"
#include "formats/expect_error.h"
#include "support/gguf_writer.h"
#include "support/onnx_writer.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

using namespace std::string_literals;
namespace fs = std::filesystem;

// What Load was called with, told back through a model that does nothing.
struct LoadedModel : BackendModel {
  LoadedModel(std::string by, ModelFormat what, HRESULT code)
      : backend(std::move(by)), format(what), session_code(code) {}
  const Schema* declared_schema() const override { return nullptr; }
  std::unique_ptr<BackendSession> CreateSession(const SessionOptions& options) const override {
    throw Error(session_code, "a session of " + backend + " (" + options.engine_reason + ")");
  }

  std::string backend;
  ModelFormat format;
  HRESULT session_code;
};

class RecordingBackend : public Backend {
 public:
  RecordingBackend(std::string name, std::set<ModelFormat> formats)
      : name_(std::move(name)), formats_(std::move(formats)) {}
  std::string_view name() const override { return name_; }
  bool Handles(ModelFormat format) const override { return formats_.count(format) > 0; }
  std::shared_ptr<const BackendModel> Load(const ModelSource&, ModelFormat format) const override {
    if (load_failure) throw *load_failure;
    return std::make_shared<LoadedModel>(name_, format, session_code);
  }
  std::vector<Device> Devices() const override {
    Device device;
    device.kind = DeviceKind::kGpu;
    device.id = name_ + ":0";
    return {device};
  }
  std::optional<std::string> reservation() const override { return why_not; }

  std::optional<Error> load_failure;
  std::optional<std::string> why_not;
  HRESULT session_code = E_NOTIMPL;

 private:
  std::string name_;
  std::set<ModelFormat> formats_;
};

std::shared_ptr<const Backend> Ort() {
  return std::make_shared<RecordingBackend>("ort", std::set{ModelFormat::kOnnx, ModelFormat::kOrtFlatbuffer});
}
std::shared_ptr<const Backend> Llama() {
  return std::make_shared<RecordingBackend>("llama", std::set{ModelFormat::kGguf});
}
std::shared_ptr<const Backend> Native() {
  return std::make_shared<RecordingBackend>("native", std::set{ModelFormat::kGguf});
}

const std::string kOnnxBytes = AddModel(OnnxTensor("w", kOnnxFloat, {2}, "12345678")).Bytes();
const std::string kGgufBytes = GgufWriter().Add("general.architecture", "llama").Bytes();
const std::string kOrtBytes = "\x1c\0\0\0ORTM\0\0\0\0"s;

class RegistryTest : public testing::Test {
 protected:
  RegistryTest() { ::unsetenv("OWML_ENGINE"); }
  ~RegistryTest() override { ::unsetenv("OWML_ENGINE"); }

  std::pair<std::string, ModelFormat> LoadFile(const fs::path& path) const {
    ModelSource source;
    source.path = path;
    return Told(*registry_.LoadFile(source));
  }
  std::pair<std::string, ModelFormat> LoadBuffer(const std::string& bytes) const {
    ModelSource source;
    source.bytes = AsBytes(bytes);
    return Told(*registry_.LoadBuffer(source));
  }
  static std::pair<std::string, ModelFormat> Told(const BackendModel& model) {
    const auto* choice = dynamic_cast<const EngineChoice*>(&model);
    const auto& loaded = dynamic_cast<const LoadedModel&>(choice ? choice->loaded() : model);
    return {loaded.backend, loaded.format};
  }
  void ExpectFileRefused(const fs::path& path, HRESULT code, std::vector<std::string> words,
                         bool path_is_named = true) const {
    if (path_is_named) words.push_back(path.string());
    ExpectError([&] { LoadFile(path); }, code, words);
  }

  Registry registry_{{Ort(), Llama()}};
  TemporaryFolder folder_;
};

using Loaded = std::pair<std::string, ModelFormat>;

TEST_F(RegistryTest, ExtensionChoosesTheBackend) {
  EXPECT_EQ(LoadFile(folder_.Write("m.onnx", kOnnxBytes)), Loaded("ort", ModelFormat::kOnnx));
  EXPECT_EQ(LoadFile(folder_.Write("m.ort", kOrtBytes)), Loaded("ort", ModelFormat::kOrtFlatbuffer));
  EXPECT_EQ(LoadFile(folder_.Write("m.gguf", kGgufBytes)), Loaded("llama", ModelFormat::kGguf));
}

TEST_F(RegistryTest, ExtensionIsMatchedInAnyCase) {
  EXPECT_EQ(LoadFile(folder_.Write("M.ONNX", kOnnxBytes)).second, ModelFormat::kOnnx);
  EXPECT_EQ(LoadFile(folder_.Write("m.GgUf", kGgufBytes)).second, ModelFormat::kGguf);
}

TEST_F(RegistryTest, PathsMayHoldSpacesAccentsAndCjk) {
  EXPECT_EQ(LoadFile(folder_.Write("mes modèles/模型 één.onnx", kOnnxBytes)).first, "ort");
}

TEST_F(RegistryTest, OtherExtensionsAreNotSupported) {
  const HRESULT code = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
  ExpectFileRefused(folder_.Write("m.bin", "\x01\x02\x03"), code, {"'.bin'", ".onnx, .ort and .gguf"});
  ExpectFileRefused(folder_.Write("model", kOnnxBytes), code, {"no extension", "an ONNX model"});
  ExpectFileRefused(folder_.Write("m.safetensors", "\x08\0\0\0\0\0\0\0{\"a\":1}"s), code,
                    {"safetensors", "convert it"});
}

TEST_F(RegistryTest, MissingFileIsNotFound) {
  const HRESULT code = HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
  ExpectFileRefused(folder_.path() / "gone.onnx", code, {});
  ExpectFileRefused(folder_.path() / "no folder/gone.gguf", code, {});
  ExpectFileRefused(folder_.path() / "gone.xyz", code, {});
}

TEST_F(RegistryTest, FolderIsAnInvalidArgument) {
  fs::create_directory(folder_.path() / "m.onnx");
  ExpectFileRefused(folder_.path() / "m.onnx", E_INVALIDARG, {"folder"});
}

TEST_F(RegistryTest, EmptyPathIsAnInvalidArgument) {
  ExpectError([&] { LoadFile(""); }, E_INVALIDARG, {});
}

// Nobody in particular while it lives; the superuser may read everything.
class WithoutPrivilege {
 public:
  WithoutPrivilege() : was_root_(::geteuid() == 0) {
    if (was_root_ && ::seteuid(65534) != 0) ADD_FAILURE() << "cannot drop privileges";
  }
  ~WithoutPrivilege() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  WithoutPrivilege(const WithoutPrivilege&) = delete;
  WithoutPrivilege& operator=(const WithoutPrivilege&) = delete;

 private:
  bool was_root_;
};

TEST_F(RegistryTest, FileWithoutReadPermissionIsDenied) {
  const fs::path path = folder_.Write("m.onnx", kOnnxBytes);
  fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::others_exec);
  fs::permissions(path, fs::perms::none);
  const WithoutPrivilege nobody;
  ExpectFileRefused(path, E_ACCESSDENIED, {});
}

TEST_F(RegistryTest, ContentUnderAModelsNameIsNamedForWhatItIs) {
  const HRESULT code = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n";
  for (const char* name : {"m.onnx", "m.ort", "m.gguf"}) {
    ExpectFileRefused(folder_.Write(name, pointer), code, {"Git LFS pointer", "git lfs pull"});
    ExpectFileRefused(folder_.Write(name, "<!doctype html><html>"), code, {"HTML page"});
    ExpectFileRefused(folder_.Write(name, "\x08\0\0\0\0\0\0\0{\"a\":1}"s), code, {"safetensors"});
    ExpectFileRefused(folder_.Write(name, ""), code, {"empty"});
  }
  ExpectFileRefused(folder_.Write("m.onnx", kGgufBytes), code, {"a GGUF model"});
  ExpectFileRefused(folder_.Write("m.onnx", kOrtBytes), code, {"ORT format"});
  ExpectFileRefused(folder_.Write("m.gguf", kOnnxBytes), code, {"an ONNX model"});
  ExpectFileRefused(folder_.Write("m.gguf", "\x01\x02\x03"), code, {"not a GGUF model"});
  ExpectFileRefused(folder_.Write("m.ort", "\x01\x02\x03"), code, {"not an ONNX Runtime model"});
}

TEST_F(RegistryTest, BytesChooseTheBackendOfABuffer) {
  EXPECT_EQ(LoadBuffer(kOnnxBytes), Loaded("ort", ModelFormat::kOnnx));
  EXPECT_EQ(LoadBuffer(kOrtBytes), Loaded("ort", ModelFormat::kOrtFlatbuffer));
  EXPECT_EQ(LoadBuffer(kGgufBytes), Loaded("llama", ModelFormat::kGguf));
}

TEST_F(RegistryTest, BuffersOfNoKnownFormatAreRefused) {
  ExpectError([&] { LoadBuffer(""); }, E_INVALIDARG, {"model buffer"});
  ExpectBadData([&] { LoadBuffer("\x01\x02\x03"); }, {"the model buffer", "neither"});
  ExpectBadData([&] { LoadBuffer("<html></html>"); }, {"the model buffer", "HTML page"});
}

TEST_F(RegistryTest, EnvironmentPicksTheEngine) {
  registry_ = Registry({Ort(), Native(), Llama()});
  const fs::path path = folder_.Write("m.gguf", kGgufBytes);
  for (const auto& [word, backend] :
       {std::pair("", "native"), {"auto", "native"}, {"llama", "llama"}, {"native", "native"}}) {
    ::setenv("OWML_ENGINE", word, 1);
    EXPECT_EQ(LoadFile(path).first, backend) << word;
  }
}

TEST_F(RegistryTest, AStageMayAskForAnotherEngineThanTheOneThatLoadedTheModel) {
  registry_ = Registry({Ort(), Native(), Llama()});
  ModelSource source;
  source.path = folder_.Write("m.gguf", kGgufBytes);
  for (const auto& [word, engine, expected, reason] : {std::tuple("", Engine::kAuto, "native", "it knows the model"),
                                                       {"", Engine::kNative, "native", "the stage asks for it"},
                                                       {"", Engine::kLlama, "llama", "the stage asks for it"},
                                                       {"native", Engine::kAuto, "native", "OWML_ENGINE asks for it"},
                                                       {"native", Engine::kLlama, "llama", "the stage asks for it"}}) {
    ::setenv("OWML_ENGINE", word, 1);
    const auto model = registry_.LoadFile(source);
    SessionOptions options;
    options.engine = engine;
    ExpectError([&] { model->CreateSession(options); }, E_NOTIMPL, {std::string("a session of ") + expected, reason});
  }
}

TEST_F(RegistryTest, AModelThatThePreferredEngineDoesNotTakeGoesToTheNextWithTheReason) {
  const auto native = std::make_shared<RecordingBackend>("native", std::set{ModelFormat::kGguf});
  registry_ = Registry({native, Llama()});
  native->load_failure = Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "no such architecture");
  const fs::path path = folder_.Write("m.gguf", kGgufBytes);
  EXPECT_EQ(LoadFile(path).first, "llama");
  ModelSource source;
  source.path = path;
  ExpectError([&] { registry_.LoadFile(source)->CreateSession({}); }, E_NOTIMPL,
              {"a session of llama", "native", "no such architecture"});

  ::setenv("OWML_ENGINE", "native", 1);
  ExpectError([&] { LoadFile(path); }, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), {"no such architecture"});
  ::unsetenv("OWML_ENGINE");
  native->load_failure = Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "a broken file");
  ExpectError([&] { LoadFile(path); }, HRESULT_FROM_WIN32(ERROR_INVALID_DATA), {"a broken file"});
}

TEST_F(RegistryTest, WhereNoEngineTakesAModelBothReasonsAreTold) {
  const auto native = std::make_shared<RecordingBackend>("native", std::set{ModelFormat::kGguf});
  const auto llama = std::make_shared<RecordingBackend>("llama", std::set{ModelFormat::kGguf});
  native->load_failure = Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "no such architecture");
  llama->load_failure = Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "not built");
  registry_ = Registry({native, llama});
  ExpectFileRefused(folder_.Write("m.gguf", kGgufBytes), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                    {"no such architecture", "not built"}, /*path_is_named=*/false);
}

TEST_F(RegistryTest, AnEngineWithAReservationIsTakenOnlyWhenItIsAskedFor) {
  const auto native = std::make_shared<RecordingBackend>("native", std::set{ModelFormat::kGguf});
  native->why_not = "no vectors here";
  registry_ = Registry({native, Llama()});
  const fs::path path = folder_.Write("m.gguf", kGgufBytes);
  EXPECT_EQ(LoadFile(path).first, "llama");
  ::setenv("OWML_ENGINE", "native", 1);
  EXPECT_EQ(LoadFile(path).first, "native");
}

TEST_F(RegistryTest, AStageThatThePreferredEngineCannotServeGoesToTheNext) {
  const auto native = std::make_shared<RecordingBackend>("native", std::set{ModelFormat::kGguf});
  native->session_code = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
  registry_ = Registry({native, Llama()});
  ModelSource source;
  source.path = folder_.Write("m.gguf", kGgufBytes);
  ExpectError([&] { registry_.LoadFile(source)->CreateSession({}); }, E_NOTIMPL,
              {"a session of llama", "a session of native"});
  SessionOptions native_only;
  native_only.engine = Engine::kNative;
  ExpectError([&] { registry_.LoadFile(source)->CreateSession(native_only); }, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              {"a session of native"});
  ::setenv("OWML_ENGINE", "native", 1);
  ExpectError([&] { registry_.LoadFile(source)->CreateSession({}); }, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              {"a session of native"});
}

TEST_F(RegistryTest, EngineThatIsNotBuiltIsNotSupported) {
  ::setenv("OWML_ENGINE", "native", 1);
  const fs::path path = folder_.Write("m.gguf", kGgufBytes);
  ExpectFileRefused(path, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), {"OWML_ENGINE", "'native'"});
  EXPECT_EQ(LoadBuffer(kOnnxBytes).first, "ort") << "the engine matters to GGUF only";
}

TEST_F(RegistryTest, UnknownEngineIsAnInvalidArgument) {
  ::setenv("OWML_ENGINE", "Llama", 1);
  ExpectError([&] { LoadBuffer(kGgufBytes); }, E_INVALIDARG, {"OWML_ENGINE", "'Llama'", "auto, llama and native"});
}

TEST_F(RegistryTest, FormatWithoutBackendIsNotSupported) {
  registry_ = Registry({Ort()});
  ExpectFileRefused(folder_.Write("m.gguf", kGgufBytes), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                    {"a GGUF model", "no backend"});
}

TEST_F(RegistryTest, DevicesOfAllBackendsAreListed) {
  const std::vector<Device> devices = registry_.Devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].id, "ort:0");
  EXPECT_EQ(devices[1].id, "llama:0");
}

}  // namespace
}  // namespace owml::test
