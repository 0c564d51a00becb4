// Decodes one generated stream: whole characters as soon as they are complete, never half of one.
// Made by IWinMLTokenizer::CreateDecoder.
#pragma once

#include <WinMLTokenizer.h>

#include <memory>
#include <string>

#include "com/implements.h"
#include "text/tokenizer/streaming_decoder.h"

namespace owml {

class TokenizerDecoder final : public Implements<TokenizerDecoder, IWinMLTokenizerDecoder> {
 public:
  explicit TokenizerDecoder(std::shared_ptr<const text::Tokenizer> tokenizer);

  HRESULT STDMETHODCALLTYPE DecodeToken(UINT32 tokenId, LPCWSTR* text) noexcept override;
  HRESULT STDMETHODCALLTYPE Reset() noexcept override;

 private:
  text::StreamingDecoder decoder_;
  std::wstring fragment_;
};

}  // namespace owml
