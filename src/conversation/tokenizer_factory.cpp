// Choice of the tokenizer by path.
// Called by the export.
#include "conversation/tokenizer_factory.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/mapped_file.h"
#include "com/implements.h"
#include "conversation/tokenizer.h"
#include "conversation/vocabulary.h"

namespace owml {
namespace {

std::string LowerExtension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return extension;
}

[[noreturn]] void NotSupported(const std::string& sentence) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), sentence);
}

}  // namespace

ComPtr<IWinMLTokenizer> CreateTokenizerFromFile(const std::filesystem::path& path) {
  if (path.empty()) throw Error(E_INVALIDARG, "the path of the tokenizer is empty");
  const std::string label = "'" + path.string() + "'";
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    NotSupported(label + ": tokenizer folders cannot be read yet, only .gguf files");
  RequireRegularFile(path);
  if (LowerExtension(path) != ".gguf") NotSupported(label + ": only .gguf files can be read as tokenizers yet");
  return Make<Tokenizer>(Vocabulary::OpenGguf(path));
}

}  // namespace owml
