// A tokenizer behind the public API, and tokens as a person looks at them.
// Used by `owml tokenize` and `owml template`.
#pragma once

#include <WinMLTokenizer.h>
#include <wrl/client.h>

#include <cstdint>
#include <string>
#include <vector>

#include "json_output.h"

namespace owml::cli {

// A token and the text that it brings to an end. A token that completes no character has none.
struct SeenToken {
  uint32_t id = 0;
  std::string text;
  size_t begin = 0;  // bytes of the decoded text
  size_t end = 0;
  bool special = false;  // left out of text that skips special tokens
};

class TokenizerView {
 public:
  // A .gguf file, a tokenizer.json or a model folder.
  explicit TokenizerView(const std::string& path);

  IWinMLTokenizer* get() const { return tokenizer_.Get(); }
  // Fails for a text with a NUL, which the API would end at.
  std::vector<uint32_t> Encode(const std::string& text, bool add_special) const;
  std::string Decode(const std::vector<uint32_t>& ids, bool skip_special) const;
  std::vector<SeenToken> Look(const std::vector<uint32_t>& ids) const;

 private:
  Microsoft::WRL::ComPtr<IWinMLTokenizer> tokenizer_;
};

// A row for each token.
void PrintTokenTable(const std::vector<SeenToken>& tokens);
// The text on a terminal, tokens in turning shades and special ones marked; elsewhere the text as it is.
void PrintShadedText(const std::vector<SeenToken>& tokens);
Json TokensAsJson(const std::vector<SeenToken>& tokens);
// "12 tokens", on standard error.
void NoteCount(size_t count);

}  // namespace owml::cli
