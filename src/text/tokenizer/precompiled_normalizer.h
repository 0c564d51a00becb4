// The normalizer of SentencePiece models: a table from character sequences to their replacements, made in advance.
// Made by the readers of tokenizer files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/tokenizer/normalizer.h"

namespace owml::text {

// `base64` as in tokenizer.json. Throws ERROR_INVALID_DATA.
NormalizerPtr MakePrecompiledNormalizer(std::string_view base64, const std::string& label);
// `charsmap` as in SentencePiece models and GGUF files.
NormalizerPtr MakePrecompiledNormalizerFromBytes(std::string_view charsmap, const std::string& label);

}  // namespace owml::text
