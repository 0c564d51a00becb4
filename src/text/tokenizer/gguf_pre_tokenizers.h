// How GGUF vocabularies of byte-pair encoding cut a text: the kinds that 'tokenizer.ggml.pre' names.
// Used by the reader of GGUF vocabularies.
#pragma once

#include <string_view>
#include <vector>

#include "text/tokenizer/pre_tokenizer.h"

namespace owml::text {

struct GgufPreTokenizer {
  std::vector<const char*> patterns;  // one cut after the other; what a pattern leaves between its matches is cut too
  bool ignore_merges = false;
  bool add_bos = false;
  bool add_sep = false;
  bool spaces_as_blocks = false;  // characters instead of bytes; spaces are written U+2581
};

// Nullptr for a kind that is not known.
const GgufPreTokenizer* FindGgufPreTokenizer(std::string_view pre);

}  // namespace owml::text
