// Which decoders can go token by token, and how the others are run over the last tokens again.
// Called for every generated token.
#include "text/tokenizer/streaming_decoder.h"

#include <utility>

namespace owml::text {
namespace {

// A window that has grown to the first size is cut to the second: what lies further back has no influence.
constexpr size_t kLongWindow = 24;
constexpr size_t kShortWindow = 8;

}  // namespace

StreamingDecoder::StreamingDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {
  ChooseWay();
}

void StreamingDecoder::ChooseWay() {
  using Streaming = TokenDecoder::Streaming;
  bool joined = false;
  bool bytes = false;
  bool each = false;
  for (const TokenDecoderPtr& decoder : tokenizer_->parts_.decoders) {
    switch (decoder->streaming()) {
      case Streaming::kEach:
        if (joined) return;  // may match across tokens
        each = true;
        break;
      case Streaming::kFallback:
        if (joined || bytes) return;
        bytes = true;
        break;
      case Streaming::kBytes:
        if (joined || bytes || each) return;
        bytes = joined = true;
        break;
      case Streaming::kFuse:
        joined = true;
        break;
      case Streaming::kStart:
        if (!joined) return;
        at_start_.push_back(decoder.get());
        break;
      case Streaming::kContext:
        return;
    }
  }
  if (joined) way_ = Way::kPieces;
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
  constexpr std::string_view kReplacement = "\uFFFD";
  window_.push_back(id);
  std::string text = tokenizer_->Decode(window_, skip_special_);
  // At the end it may be the beginning of a character.
  if (text.ends_with(kReplacement) || !text.starts_with(window_text_)) {
    if (window_.size() < kLongWindow) return {};
  }
  std::string added = text.starts_with(window_text_) ? text.substr(window_text_.size()) : text;
  window_text_ = std::move(text);
  if (window_.size() >= kLongWindow) {
    window_.erase(window_.begin(), window_.end() - kShortWindow);
    window_text_ = tokenizer_->Decode(window_, skip_special_);
  }
  return added;
}

std::string StreamingDecoder::Finish() {
  std::string text;
  if (way_ == Way::kPieces) {
    stream_.Flush(&text);
  } else if (!window_.empty()) {
    const std::string all = tokenizer_->Decode(window_, skip_special_);
    if (all.starts_with(window_text_)) text = all.substr(window_text_.size());
  }
  Reset();
  return text;
}

void StreamingDecoder::Reset() {
  started_ = false;
  stream_.Clear();
  window_.clear();
  window_text_.clear();
}

}  // namespace owml::text
