// Which tokens of a GGUF vocabulary end a generation, also in files that do not say so.
// Used by the reader of GGUF tokenizers.
#pragma once

#include <cstdint>
#include <vector>

#include "text/tokenizer/gguf_vocabulary.h"

namespace owml::text {

// The end of a turn first. Corrects the types of tokens that files are known to mark wrongly.
std::vector<uint32_t> FindGgufEnds(const GgufMetadata& metadata, GgufVocabulary* vocabulary);

}  // namespace owml::text
