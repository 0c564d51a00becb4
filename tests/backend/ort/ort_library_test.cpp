// The search for the library: order, sentences, versions.
#include "backend/ort/ort_library.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "backend/ort/ort_fixture.h"
#include "backend/ort/ort_status.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The library is loaded once a process, so each case runs in a child of its own. The child prints the error and exits
// with 0.
void PrintLoadError(const char* variable, const std::string& value) {
  ::unsetenv("OWML_ONNXRUNTIME");
  ::unsetenv("ONNXRUNTIME_ROOT");
  ::setenv(variable, value.c_str(), 1);
  const auto [code, sentence] = ErrorOf([] { LoadedOrtLibrary(); });
  std::fprintf(stderr, "%s", sentence.c_str());
  std::_Exit(code == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) ? 0 : 1);
}

class OrtLibraryDeathTest : public testing::Test {
 protected:
  OrtLibraryDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

TEST_F(OrtLibraryDeathTest, AMissingNamedFileIsAnErrorThatNamesIt) {
  EXPECT_EXIT(PrintLoadError("OWML_ONNXRUNTIME", "/nowhere/libonnxruntime.so"), testing::ExitedWithCode(0),
              AllOf(HasSubstr("OWML_ONNXRUNTIME"), HasSubstr("/nowhere/libonnxruntime.so")));
}

TEST_F(OrtLibraryDeathTest, ALibraryThatIsNotOnnxRuntimeIsAnError) {
  EXPECT_EXIT(PrintLoadError("OWML_ONNXRUNTIME", "libm.so.6"), testing::ExitedWithCode(0), HasSubstr("OrtGetApiBase"));
}

TEST_F(OrtLibraryDeathTest, ARootWithoutTheLibraryIsAnErrorThatNamesIt) {
  EXPECT_EXIT(PrintLoadError("ONNXRUNTIME_ROOT", "/no such root"), testing::ExitedWithCode(0),
              AllOf(HasSubstr("ONNXRUNTIME_ROOT"), HasSubstr("/no such root")));
}

TEST(OrtLibrary, PrefersThePlainNameAndTheLibFolderOfARoot) {
  const TemporaryFolder folder;
  const std::string full = folder.Write("lib/libonnxruntime.so.1.32.0", "").string();
  const std::string plain = folder.Write("lib/libonnxruntime.so", "").string();
  const std::string top = folder.Write("libonnxruntime.so.1", "").string();
  folder.Write("lib/libonnxruntime_providers_shared.so", "");
  EXPECT_EQ(OrtLibrariesUnder(folder.path().string()), (std::vector<std::string>{plain, full, top}));
}

TEST(OrtLibrary, ReadsVersions) {
  EXPECT_EQ(OrtMinorVersion("1.32.0"), 32);
  EXPECT_EQ(OrtMinorVersion("1.9.1"), 9);
  EXPECT_EQ(OrtMinorVersion("1.24.0-dev"), 24);
  EXPECT_EQ(OrtMinorVersion("2.0.0"), -1);
  EXPECT_EQ(OrtMinorVersion("1."), -1);
  EXPECT_EQ(OrtMinorVersion(""), -1);
}

TEST(OrtLibrary, IsLoadedOnceWithItsVersionAndPath) {
  const OrtLibrary& library = LoadedOrtLibrary();
  EXPECT_EQ(&library, &LoadedOrtLibrary());
  EXPECT_GE(OrtMinorVersion(library.version), ORT_API_VERSION);
  EXPECT_THAT(library.path, HasSubstr("onnxruntime"));
}

TEST(OrtStatusCodes, BecomeDocumentedResults) {
  EXPECT_EQ(HresultOf(ORT_INVALID_ARGUMENT, ""), E_INVALIDARG);
  EXPECT_EQ(HresultOf(ORT_NO_SUCHFILE, ""), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  EXPECT_EQ(HresultOf(ORT_INVALID_PROTOBUF, ""), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  EXPECT_EQ(HresultOf(ORT_INVALID_GRAPH, ""), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  EXPECT_EQ(HresultOf(ORT_NOT_IMPLEMENTED, ""), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
  EXPECT_EQ(HresultOf(ORT_NOT_FOUND, ""), HRESULT_FROM_WIN32(ERROR_NOT_FOUND));
  EXPECT_EQ(HresultOf(ORT_FAIL, "something else"), E_FAIL);
  EXPECT_EQ(HresultOf(ORT_RUNTIME_EXCEPTION, "Failed to allocate memory for requested buffer of size 1"),
            E_OUTOFMEMORY);
}

}  // namespace
}  // namespace owml::test
