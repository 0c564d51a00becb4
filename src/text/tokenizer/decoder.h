// The decoders of tokenizer files: from the texts of tokens to one text.
// Made by the readers of tokenizer files, called by the Tokenizer and the streaming decoder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/unicode/regex.h"

namespace owml::text {

class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  // Rewrites the texts in place; how many there are may change.
  virtual void Apply(std::vector<std::string>* texts) const = 0;

  // How a step goes with decoding token by token.
  enum class Streaming : uint8_t {
    kEach,      // looks at each text alone
    kFallback,  // joins bytes "<0x..>"
    kBytes,     // joins the bytes of all texts
    kFuse,      // joins all texts
    kStart,     // of joined texts, looks at the first character
    kContext,   // looks at neighbours or at the place in the row
  };
  virtual Streaming streaming() const = 0;
};

using TokenDecoderPtr = std::unique_ptr<const TokenDecoder>;

TokenDecoderPtr MakeByteLevelDecoder();
TokenDecoderPtr MakeMetaspaceDecoder(char32_t replacement, bool drop_first);
TokenDecoderPtr MakeWordPieceDecoder(std::string prefix, bool cleanup);
TokenDecoderPtr MakeBpeDecoder(std::string suffix);
// What a run of byte tokens gives that is not well-formed UTF-8: U+FFFD for each of its bytes, as in Hugging Face's
// tokenizers, or its whole characters and U+FFFD for the rest.
enum class BadBytes : uint8_t { kReplaceRun, kKeepCharacters };
TokenDecoderPtr MakeByteFallbackDecoder(BadBytes bad_bytes = BadBytes::kReplaceRun);
TokenDecoderPtr MakeFuseDecoder();
TokenDecoderPtr MakeStripDecoder(char32_t content, uint32_t start, uint32_t stop);
TokenDecoderPtr MakeReplaceDecoder(Regex pattern, std::string content);
TokenDecoderPtr MakeCtcDecoder(std::string pad_token, std::string word_delimiter, bool cleanup);

}  // namespace owml::text
