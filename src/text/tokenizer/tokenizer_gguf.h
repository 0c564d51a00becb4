// Tokenizers out of GGUF files: every kind of vocabulary that models in this format use today.
// Called by the tokenizer factory.
#pragma once

#include <string>

#include "formats/gguf.h"
#include "text/tokenizer/tokenizer.h"

namespace owml::text {

// Throws ERROR_INVALID_DATA for a damaged vocabulary and ERROR_NOT_SUPPORTED for a kind that is not built, naming file,
// key and value.
TokenizerParts ReadTokenizerGguf(const GgufFile& file);

}  // namespace owml::text
