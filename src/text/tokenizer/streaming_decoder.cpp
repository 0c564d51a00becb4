// Which decoders can go token by token, and how the others are run over the last tokens again.
// Called for every generated token.
#include "text/tokenizer/streaming_decoder.h"

#include <algorithm>
#include <utility>

#include "text/tokenizer/byte_alphabet.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

using Streaming = TokenDecoder::Streaming;

// A window that has grown to the first size is cut to the second: what lies further back has no influence.
constexpr size_t kLongWindow = 24;
constexpr size_t kShortWindow = 8;
// A run of bytes is one text; beyond the first size only the end of it is kept, from about the second.
constexpr size_t kLongRun = 1024;
constexpr size_t kShortRun = 64;
// Tokens that may pass until a character is complete.
constexpr int kMostHeld = 3;

// Of the character that holds the byte at `at`.
size_t StartOfCharacter(std::string_view text, size_t at) {
  return at < text.size() ? PreviousCharacter(text, at + 1) : text.size();
}

}  // namespace

StreamingDecoder::StreamingDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {
  ChooseWay();
}

void StreamingDecoder::ChooseWay() {
  const std::vector<TokenDecoderPtr>& decoders = tokenizer_->parts_.decoders;
  bool pieces = true;
  bool joined = false;
  bool bytes = false;
  bool each = false;
  for (const TokenDecoderPtr& decoder : decoders) {
    switch (decoder->streaming()) {
      case Streaming::kEach:
        pieces &= !joined;  // else it may match across tokens
        each = true;
        break;
      case Streaming::kFallback:
        pieces &= !joined && !bytes;
        bytes = true;
        break;
      case Streaming::kBytes:
        pieces &= !joined && !bytes && !each;
        bytes = joined = true;
        break;
      case Streaming::kFuse:
        joined = true;
        break;
      case Streaming::kStart:
        pieces &= joined && at_start_.empty();
        at_start_.push_back(decoder.get());
        break;
      case Streaming::kContext:
        pieces = false;
        break;
    }
  }
  if (pieces && joined) {
    way_ = Way::kPieces;
    return;
  }
  const auto kind = [](Streaming wanted) {
    return [wanted](const TokenDecoderPtr& decoder) { return decoder->streaming() == wanted; };
  };
  late_bytes_ = std::any_of(decoders.begin(), decoders.end(), kind(Streaming::kBytes));
  const auto first = std::find_if_not(decoders.begin(), decoders.end(), kind(Streaming::kEach));
  if (first != decoders.end() && (*first)->streaming() == Streaming::kFallback) {
    fallback_ = static_cast<size_t>(first - decoders.begin());
  }
}

std::string StreamingDecoder::Step(uint32_t id) {
  tokenizer_->Require(id);
  if (skip_special_ && tokenizer_->IsSpecial(id)) return {};
  if (way_ == Way::kWindow) return StepInWindow(id);
  std::string text;
  stream_.Take(tokenizer_->Bytes(id), &text);
  if (!started_ && !text.empty()) {
    started_ = true;
    std::vector<std::string> texts = {std::move(text)};
    for (const TokenDecoder* decoder : at_start_) decoder->Apply(&texts);
    text = std::move(texts[0]);
  }
  return text;
}

std::string StreamingDecoder::StepInWindow(uint32_t id) {
  std::vector<std::string> texts = {tokenizer_->TextOf(id)};
  if (fallback_) {
    for (size_t i = 0; i < *fallback_; ++i) tokenizer_->parts_.decoders[i]->Apply(&texts);
    if (const int byte = ByteOfFallbackToken(texts[0]); byte >= 0) {
      const char value = static_cast<char>(byte);
      return TakeByte({&value, 1}) ? Advance() : std::string();
    }
    TakeByte({});
    in_run_ = false;
  }
  window_.push_back(std::move(texts[0]));
  return Advance();
}

bool StreamingDecoder::TakeByte(std::string_view byte) {
  std::string characters;
  if (byte.empty()) {
    stream_.Flush(&characters);
  } else {
    stream_.Take(byte, &characters);
  }
  if (characters.empty()) return false;
  if (in_run_) {
    window_.back() += characters;
  } else {
    window_.push_back(std::move(characters));
  }
  in_run_ = true;
  return true;
}

std::string StreamingDecoder::WindowText() const {
  std::vector<std::string> texts = window_;
  const std::vector<TokenDecoderPtr>& decoders = tokenizer_->parts_.decoders;
  for (size_t i = fallback_ ? *fallback_ + 1 : 0; i < decoders.size(); ++i) decoders[i]->Apply(&texts);
  return tokenizer_->Join(texts);
}

std::string StreamingDecoder::Advance() {
  constexpr std::string_view kReplacement = "\uFFFD";
  std::string text = WindowText();
  if (late_bytes_ && text.ends_with(kReplacement) && ++held_ <= kMostHeld) {
    // Perhaps the beginning of a character.
    while (text.ends_with(kReplacement)) text.resize(text.size() - kReplacement.size());
    if (text.size() < window_text_.size()) return {};
  } else {
    held_ = 0;
  }
  // What was given out stands, even where the decoders would now take it back.
  const auto [end, unused] = std::mismatch(text.begin(), text.end(), window_text_.begin(), window_text_.end());
  auto same = static_cast<size_t>(end - text.begin());
  if (same < window_text_.size()) same = StartOfCharacter(text, same);
  std::string added = text.substr(same);
  window_text_ = std::move(text);
  const bool many = window_.size() >= kLongWindow && held_ == 0;
  const bool large = in_run_ && window_.back().size() > kLongRun;
  if (many) window_.erase(window_.begin(), window_.end() - kShortWindow);
  if (large) window_.back().erase(0, StartOfCharacter(window_.back(), window_.back().size() - kShortRun));
  if (many || large) window_text_ = WindowText();
  return added;
}

std::string StreamingDecoder::Finish() {
  std::string text;
  if (way_ == Way::kPieces) {
    stream_.Flush(&text);
  } else if (TakeByte({}) || !window_.empty()) {
    held_ = kMostHeld;  // nothing will complete it
    text = Advance();
  }
  Reset();
  return text;
}

void StreamingDecoder::Reset() {
  started_ = false;
  stream_.Clear();
  window_.clear();
  in_run_ = false;
  window_text_.clear();
  held_ = 0;
}

}  // namespace owml::text
