// Tokenizers from paths: a tokenizer.json with the files beside it, a model folder, or a GGUF file.
// Called by the tokenizer factory and the command line.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "text/tokenizer/tokenizer.h"

namespace owml::text {

struct OpenedTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string chat_template;  // empty when there is none
};

// Throws ERROR_FILE_NOT_FOUND, ERROR_INVALID_DATA or ERROR_NOT_SUPPORTED, naming file and field.
OpenedTokenizer OpenTokenizer(const std::filesystem::path& path);

}  // namespace owml::text
