// Decodes a generated stream token by token: never half a character, never a whole one held back.
// Made by the tokenizer's decoder object and the chat tasks, one for each stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/utf8_stream.h"

namespace owml::text {

class StreamingDecoder {
 public:
  // Special tokens have no text with `skip_special`.
  StreamingDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special);

  // The text that the token brings to an end; empty when it completes no character. Joined, the texts are those that
  // Tokenizer::Decode gives for all tokens, except where byte tokens are no UTF-8: there each character that is whole
  // comes out as it is. Throws E_INVALIDARG for an id that is no token; the stream can go on.
  std::string Step(uint32_t id);
  // The end of the stream: U+FFFD for a character that was not completed.
  std::string Finish();
  void Reset();

 private:
  enum class Way : uint8_t {
    kPieces,  // each token's bytes are the same wherever it stands, but for what is stripped at the start
    kWindow,  // a token's text depends on its neighbours: the last tokens are decoded again
  };

  void ChooseWay();
  std::string StepInWindow(uint32_t id);
  // Adds `text` to the bytes that tokens spell, true when that has changed the window.
  bool TakeByte(std::string_view byte);
  // The window's text as it stands whatever follows.
  std::string WindowText() const;
  // What the window says beyond what was given out.
  std::string Advance();

  std::shared_ptr<const Tokenizer> tokenizer_;
  bool skip_special_;
  Way way_ = Way::kWindow;
  std::vector<const TokenDecoder*> at_start_;  // kPieces: what looks at the start of the text
  bool started_ = false;
  Utf8Stream stream_;

  // kWindow: decoders [0, fallback) look at each token alone, the one at `fallback` joins bytes.
  std::optional<size_t> fallback_;
  bool late_bytes_ = false;          // a later decoder joins bytes too
  std::vector<std::string> window_;  // the last tokens, as the decoders behind `fallback` get them
  bool in_run_ = false;              // the last one consists of bytes and may grow
  std::string window_text_;          // given out already
  int held_ = 0;                     // tokens since the text ended with a whole character
};

}  // namespace owml::text
