// Reading of tokenizer.json, the format of Hugging Face's tokenizers.
// Called by the tokenizer factory and the reader of model folders.
#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer/tokenizer.h"

namespace owml::text {

// Throws ERROR_INVALID_DATA for a damaged file and ERROR_NOT_SUPPORTED for parts that are not built, naming `label`,
// the part and the value. Truncation and padding are left out: the tokens of a text are all its tokens.
TokenizerParts ReadTokenizerJson(std::string_view json, const std::string& label);

}  // namespace owml::text
