// WinMLCreateTokenizerFromFile as the library exports it.
// Links the shared libraries only; the files are made by the test.
#include <WinMLTokenizer.h>
#include <gmock/gmock.h>

#include <openwinml/strings.hpp>
#include <string>

#include "exports/error_text.h"
#include "support/temporary_folder.h"
#include "support/tiny_llama.h"

namespace owml::test {
namespace {

using Microsoft::WRL::ComPtr;
using testing::HasSubstr;

// The result of a refused call; checks that the out pointer was cleared.
HRESULT Refused(LPCWSTR path) {
  IWinMLTokenizer* tokenizer = reinterpret_cast<IWinMLTokenizer*>(uintptr_t{0x10});
  const HRESULT result = WinMLCreateTokenizerFromFile(path, &tokenizer);
  EXPECT_EQ(tokenizer, nullptr);
  return result;
}

TEST(WinMLCreateTokenizerFromFileExport, ReadsTheTokenizerOfAModelFile) {
  const TemporaryFolder folder;
  const auto path = folder.Write("Modèle 模型.gguf", TinyLlama().Bytes());
  ComPtr<IWinMLTokenizer> tokenizer;
  ASSERT_EQ(WinMLCreateTokenizerFromFile(openwinml::ToWide(path.string()).c_str(), &tokenizer), S_OK)
      << TakeError().description;
  ComPtr<IUnknown> identity;
  EXPECT_EQ(tokenizer.As(&identity), S_OK);
}

TEST(WinMLCreateTokenizerFromFileExport, RefusesNullPointers) {
  EXPECT_EQ(Refused(nullptr), E_POINTER);
  EXPECT_EQ(TakeError().description, "WinMLCreateTokenizerFromFile: configFilePath is null");
  EXPECT_EQ(WinMLCreateTokenizerFromFile(L"x", nullptr), E_POINTER);
  EXPECT_EQ(TakeError().description, "WinMLCreateTokenizerFromFile: tokenizer is null");
}

TEST(WinMLCreateTokenizerFromFileExport, RefusesAnEmptyPath) { EXPECT_EQ(Refused(L""), E_INVALIDARG); }

TEST(WinMLCreateTokenizerFromFileExport, NamesAMissingFile) {
  EXPECT_EQ(Refused(L"/nowhere/model.gguf"), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  const ErrorText error = TakeError();
  EXPECT_EQ(error.source, "WinMLRuntime");
  EXPECT_THAT(error.description, HasSubstr("/nowhere/model.gguf"));
}

TEST(WinMLCreateTokenizerFromFileExport, NamesADamagedFile) {
  const TemporaryFolder folder;
  const auto path = folder.Write("model.gguf", "GGUF");
  EXPECT_TRUE(FAILED(Refused(openwinml::ToWide(path.string()).c_str())));
  EXPECT_THAT(TakeError().description, HasSubstr("model.gguf"));
}

}  // namespace
}  // namespace owml::test
