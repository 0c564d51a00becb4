// Finds out what kind of tokenizer a path holds and makes the object.
// Called by the export WinMLCreateTokenizerFromFile.
#pragma once

#include <WinMLTokenizer.h>

#include <filesystem>

#include "com/com_ptr.h"

namespace owml {

// A tokenizer.json, a folder that holds one, a .gguf file or its first shard. Throws ERROR_FILE_NOT_FOUND, E_INVALIDARG
// for an empty path, ERROR_NOT_SUPPORTED for kinds that cannot be read, ERROR_INVALID_DATA for damaged ones.
ComPtr<IWinMLTokenizer> CreateTokenizerFromFile(const std::filesystem::path& path);

}  // namespace owml
