// WinMLCreateTokenizerFromFile.
// The root of libwinml_tokenizer.so.
#include <WinMLTokenizer.h>

#include <filesystem>
#include <string>

#include "com/guard.h"
#include "com/wide.h"
#include "conversation/tokenizer_factory.h"

HRESULT STDMETHODCALLTYPE WinMLCreateTokenizerFromFile(LPCWSTR configFilePath, IWinMLTokenizer** tokenizer) noexcept {
  return owml::Guard("WinMLCreateTokenizerFromFile", [&] {
    owml::RequireOut(tokenizer, "tokenizer");
    owml::RequirePointer(configFilePath, "configFilePath");
    const std::string path = owml::ToUtf8(configFilePath);
    owml::Require(!path.empty(), E_INVALIDARG, "configFilePath is empty");
    *tokenizer = owml::CreateTokenizerFromFile(std::filesystem::path(path)).Detach();
  });
}
