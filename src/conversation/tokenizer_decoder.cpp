// Streaming decode of token ids.
// Called for every generated token.
#include "conversation/tokenizer_decoder.h"

#include <cstdint>

#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

// How far the bytes at `at` are one character: its length when whole and valid, 0 when more bytes may complete it, or
// minus the number of bytes that can be no part of one.
int CharacterAt(std::string_view bytes, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[at + i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  int length = 0;
  uint8_t low = 0x80, high = 0xBF;  // of the second byte
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;   // no overlong forms
    if (lead == 0xED) high = 0x9F;  // no surrogates
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;  // up to U+10FFFF
  } else {
    return -1;
  }
  for (int i = 1; i < length; ++i) {
    if (at + i >= bytes.size()) return 0;
    if (byte(i) < low || byte(i) > high) return -i;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

}  // namespace

std::string Utf8Stream::Take(std::string_view bytes) {
  std::string all = std::move(pending_);
  all += bytes;
  pending_.clear();
  std::string whole;
  for (size_t at = 0; at < all.size();) {
    const int length = CharacterAt(all, at);
    if (length == 0) {
      pending_ = all.substr(at);
      break;
    }
    if (length > 0) {
      whole.append(all, at, static_cast<size_t>(length));
      at += static_cast<size_t>(length);
    } else {
      whole += kReplacement;
      at += static_cast<size_t>(-length);
    }
  }
  return whole;
}

TokenizerDecoder::TokenizerDecoder(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {}

HRESULT TokenizerDecoder::DecodeToken(UINT32 tokenId, LPCWSTR* text) noexcept {
  return Guard("IWinMLTokenizerDecoder::DecodeToken", [&] {
    RequireOut(text, "text");
    // Spec-open: control tokens have no text here; a token that completes no character gives an empty string.
    std::string_view piece = vocabulary_->Piece(tokenId, /*special=*/false);
    if (at_start_ && !piece.empty()) {
      if (vocabulary_->drops_leading_space() && piece.starts_with(' ')) piece.remove_prefix(1);
      at_start_ = false;
    }
    fragment_ = ToWide(stream_.Take(piece));
    *text = fragment_.c_str();
  });
}

HRESULT TokenizerDecoder::Reset() noexcept {
  return Guard("IWinMLTokenizerDecoder::Reset", [&] {
    stream_.Clear();
    at_start_ = true;
    fragment_.clear();
  });
}

}  // namespace owml
