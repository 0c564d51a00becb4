// Decodes a generated stream token by token: never half a character, never a whole one held back.
// Made by the tokenizer's decoder object and the chat tasks, one for each stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
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

  std::shared_ptr<const Tokenizer> tokenizer_;
  bool skip_special_;
  Way way_ = Way::kWindow;
  std::vector<const TokenDecoder*> at_start_;  // kPieces: what looks at the start of the text
  bool started_ = false;
  Utf8Stream stream_;
  std::vector<uint32_t> window_;
  std::string window_text_;
};

}  // namespace owml::text
