// What must hold for any tokenizer and any text, and for any list of ids.
// Called by the tokenizer targets.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/streaming_decoder.h"
#include "text/tokenizer/tokenizer.h"
#include "text/unicode/utf8.h"

namespace owml::fuzz {

inline void Require(bool condition) {
  if (!condition) std::abort();
}

inline std::string Streamed(const std::shared_ptr<const text::Tokenizer>& tokenizer, const std::vector<uint32_t>& ids,
                            bool skip_special) {
  text::StreamingDecoder decoder(tokenizer, skip_special);
  std::string whole;
  for (const uint32_t id : ids) {
    const std::string part = decoder.Step(id);
    Require(text::ValidPrefix(part) == part.size());
    whole += part;
  }
  return whole + decoder.Finish();
}

// The text in tokens and back. `text` is well-formed.
inline void ExerciseText(const std::shared_ptr<const text::Tokenizer>& tokenizer, std::string_view text) {
  for (const auto use : {text::AddedTokenUse::kAll, text::AddedTokenUse::kNotSpecial, text::AddedTokenUse::kNone}) {
    text::EncodeOptions options;
    options.add_special_tokens = use != text::AddedTokenUse::kNone;
    options.added_tokens = use;
    const std::vector<uint32_t> ids = tokenizer->Encode(text, options);
    std::vector<text::Span> spans;
    Require(tokenizer->Encode(text, options, &spans) == ids);
    Require(spans.size() == ids.size());
    for (const text::Span& span : spans) Require(span.begin <= span.end && span.end <= text.size());
    for (const uint32_t id : ids) {
      Require(id < tokenizer->limit() && tokenizer->Has(id));
      Require(tokenizer->Find(tokenizer->Spelling(id)).has_value());
    }
    for (const bool skip : {false, true}) {
      const std::string decoded = tokenizer->Decode(ids, skip);
      Require(text::ValidPrefix(decoded) == decoded.size());
      // Byte tokens that are no UTF-8 may say more in a stream.
      const std::string streamed = Streamed(tokenizer, ids, skip);
      if (decoded.find("\uFFFD") == std::string::npos) Require(streamed == decoded);
    }
  }
}

// Ids in any order: byte tokens need not be UTF-8 then, so that the stream may say more than the whole.
inline void ExerciseIds(const std::shared_ptr<const text::Tokenizer>& tokenizer, std::string_view bytes) {
  std::vector<uint32_t> ids;
  for (const char byte : bytes.substr(0, 64)) {
    const auto id = static_cast<uint8_t>(byte) % (tokenizer->limit() ? tokenizer->limit() : 1);
    if (tokenizer->Has(id)) ids.push_back(id);
  }
  for (const bool skip : {false, true}) {
    const std::string decoded = tokenizer->Decode(ids, skip);
    Require(text::ValidPrefix(decoded) == decoded.size());
    Streamed(tokenizer, ids, skip);
  }
}

}  // namespace owml::fuzz
