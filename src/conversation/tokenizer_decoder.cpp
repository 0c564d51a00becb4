// Streaming decode of token ids.
// Called for every generated token.
#include "conversation/tokenizer_decoder.h"

#include <utility>

#include "com/guard.h"
#include "com/wide.h"

namespace owml {

// Spec-open: control tokens have no text here; a token that completes no character gives an empty string.
TokenizerDecoder::TokenizerDecoder(std::shared_ptr<const text::Tokenizer> tokenizer)
    : decoder_(std::move(tokenizer), /*skip_special=*/true) {}

HRESULT TokenizerDecoder::DecodeToken(UINT32 tokenId, LPCWSTR* text) noexcept {
  return Guard("IWinMLTokenizerDecoder::DecodeToken", [&] {
    RequireOut(text, "text");
    fragment_ = ToWide(decoder_.Step(tokenId));
    *text = fragment_.c_str();
  });
}

HRESULT TokenizerDecoder::Reset() noexcept {
  return Guard("IWinMLTokenizerDecoder::Reset", [&] {
    decoder_.Reset();
    fragment_.clear();
  });
}

}  // namespace owml
