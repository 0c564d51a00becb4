// Decodes one generated stream: whole characters as soon as they are complete, never half of one.
// Made by IWinMLTokenizer::CreateDecoder.
#pragma once

#include <WinMLTokenizer.h>

#include <memory>
#include <string>
#include <string_view>

#include "com/implements.h"
#include "conversation/vocabulary.h"

namespace owml {

// Cuts a stream of bytes into whole characters; what can be no part of a character becomes U+FFFD.
class Utf8Stream {
 public:
  // The characters that `bytes` complete, as valid UTF-8.
  std::string Take(std::string_view bytes);
  void Clear() { pending_.clear(); }

 private:
  std::string pending_;  // the beginning of a character, at most three bytes
};

class TokenizerDecoder final : public Implements<TokenizerDecoder, IWinMLTokenizerDecoder> {
 public:
  explicit TokenizerDecoder(std::shared_ptr<const Vocabulary> vocabulary);

  HRESULT STDMETHODCALLTYPE DecodeToken(UINT32 tokenId, LPCWSTR* text) noexcept override;
  HRESULT STDMETHODCALLTYPE Reset() noexcept override;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  Utf8Stream stream_;
  bool at_start_ = true;
  std::wstring fragment_;
};

}  // namespace owml
