// Which added backend families are accepted, and the reason given for each that is not.
#include "backend/llama/llama_families.h"

#include <gmock/gmock.h>

#include "backend/llama/llama_fixture.h"
#include "base/sha256.h"

namespace owml::test {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

const LlamaCoreIdentity kCore = {"x64", "0c1e57098", 7, 2, "linux-glibc"};
// Stands for a shared object; only the names in it are looked at.
const std::string kModule = "ELF\0libowml-ggml-base.so.0.25.3\0libvulkan.so.1\0"s;

class LlamaFamiliesTest : public testing::Test {
 protected:
  struct Manifest {
    std::string schema = "1";
    std::string family = "vulkan";
    std::string architecture = "x64";
    std::string commit = "0c1e57098";
    std::string build = "7";
    std::string api = "2";
    std::string contract = "linux-glibc";
    std::string backend = "libggml-vulkan.so";
    std::string sha256;
  };

  void Write(const std::string& folder, const Manifest& m, const std::string& module = kModule) {
    folder_.Write(folder + "/libggml-vulkan.so", module);
    folder_.Write(folder + "/WinMLLlamaBackendManifest.json",
                  "{\"schemaVersion\": " + m.schema + ", \"family\": \"" + m.family + "\", \"architecture\": \"" +
                      m.architecture + "\", \"llamaCommit\": \"" + m.commit + "\", \"llamaBuild\": " + m.build +
                      ", \"backendApiVersion\": " + m.api + ", \"runtimeContract\": \"" + m.contract +
                      "\", \"backend\": \"" + m.backend + "\", \"sha256\": \"" +
                      (m.sha256.empty() ? Sha256Hex(module) : m.sha256) + "\"}");
  }

  std::string Reason(const std::string& folder = "vulkan") {
    return FailureOf([&] { CheckLlamaFamily(folder_.path() / folder, kCore); }).sentence;
  }

  TemporaryFolder folder_;
};

TEST_F(LlamaFamiliesTest, AFamilyBuiltForThisCoreIsAccepted) {
  Write("vulkan", {});
  EXPECT_EQ(Reason(), "");
  const auto families = FindLlamaFamilies(folder_.path(), kCore);
  ASSERT_EQ(families.accepted.size(), 1u);
  EXPECT_EQ(families.accepted[0].name, "vulkan");
  EXPECT_EQ(families.accepted[0].module, folder_.path() / "vulkan" / "libggml-vulkan.so");
}

TEST_F(LlamaFamiliesTest, AnythingBuiltForAnotherCoreIsRejected) {
  const std::pair<std::string Manifest::*, std::string> changes[] = {
      {&Manifest::architecture, "arm64"},
      {&Manifest::commit, "0c1e57099"},
      {&Manifest::build, "8"},
      {&Manifest::api, "3"},
      {&Manifest::contract, "hybrid-crt"},
      {&Manifest::schema, "2"},
      {&Manifest::family, "cuda"},
      {&Manifest::backend, "../libggml-vulkan.so"},
      {&Manifest::commit, "xyz"},
      {&Manifest::build, "\"7\""},
      {&Manifest::sha256, "00"},
      {&Manifest::sha256, std::string(64, '0')},
  };
  for (const auto& [field, value] : changes) {
    Manifest manifest;
    manifest.*field = value;
    Write("vulkan", manifest);
    EXPECT_NE(Reason(), "") << value;
  }
}

TEST_F(LlamaFamiliesTest, ALongerCommitOfTheSameBeginningIsTheSameCommit) {
  Manifest manifest;
  manifest.commit = "0c1e570981234567890123456789012345678901"s.substr(0, 40);
  Write("vulkan", manifest);
  EXPECT_EQ(Reason(), "");
}

TEST_F(LlamaFamiliesTest, AModuleThatWasChangedIsRejected) {
  Write("vulkan", {});
  folder_.Write("vulkan/libggml-vulkan.so", kModule + "x");
  EXPECT_THAT(Reason(), HasSubstr("sha256"));
}

TEST_F(LlamaFamiliesTest, AFolderWithAModuleOfTheCoreIsRejected) {
  for (const std::string name :
       {"libggml-base.so", "libowml-ggml.so.0", "libllama.so", "WinMLggml-base.dll", "libmtmd.so"}) {
    TemporaryFolder other;
    Write("vulkan", {});
    const auto path = folder_.Write("vulkan/" + name, "");
    EXPECT_THAT(Reason(), HasSubstr(name));
    std::filesystem::remove(path);
  }
}

TEST_F(LlamaFamiliesTest, AModuleThatImportsAnUpstreamCoreIsRejected) {
  Write("vulkan", {}, kModule + "libggml-base.so.0\0"s);
  EXPECT_THAT(Reason(), HasSubstr("upstream"));
  Write("vulkan", {}, "ELF\0libc.so.6\0"s);
  EXPECT_THAT(Reason(), HasSubstr("libowml-ggml-base"));
}

TEST_F(LlamaFamiliesTest, FamilyNamesAreLowerCaseAndCpuIsReserved) {
  for (const std::string& name : {"cpu"s, "Vulkan"s, "-x"s, "a.b"s, std::string(33, 'a')}) {
    Write(name, {});
    EXPECT_NE(Reason(name), "") << name;
  }
}

TEST_F(LlamaFamiliesTest, AManifestThatIsNoJsonObjectIsRejected) {
  for (const std::string text : {"", "[]", "{", "nonsense"}) {
    Write("vulkan", {});
    folder_.Write("vulkan/WinMLLlamaBackendManifest.json", text);
    EXPECT_NE(Reason(), "") << text;
  }
  folder_.Write("vulkan/WinMLLlamaBackendManifest.json", std::string(70000, ' ') + "{}");
  EXPECT_THAT(Reason(), HasSubstr("64 KiB"));
}

TEST_F(LlamaFamiliesTest, ARejectedFamilyDoesNotHideTheOthers) {
  Write("vulkan", {});
  folder_.Write("broken/WinMLLlamaBackendManifest.json", "{}");
  folder_.Write("a file", "is no family");
  const auto families = FindLlamaFamilies(folder_.path(), kCore);
  EXPECT_EQ(families.accepted.size(), 1u);
  ASSERT_EQ(families.rejected.size(), 1u);
  EXPECT_FALSE(families.rejected[0].reason.empty());
}

}  // namespace
}  // namespace owml::test
