// Extended grapheme clusters: what a reader takes for one character.
// Used by the normalizer of SentencePiece models.
#pragma once

#include <cstddef>
#include <string_view>

namespace owml::text {

// The end of the cluster that begins at `at` (< text.size()) of well-formed text.
size_t GraphemeEnd(std::string_view text, size_t at);

}  // namespace owml::text
