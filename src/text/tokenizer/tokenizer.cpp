// The way of a text: added tokens, normalizer, pre-tokenizer, model, and back through the decoders.
// Called by everything that needs tokens.
#include "text/tokenizer/tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "formats/bad_data.h"
#include "text/tokenizer/byte_alphabet.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

// The part [begin, end) as a text of its own.
AlignedText Slice(const AlignedText& whole, size_t begin, size_t end) {
  AlignedWriter writer(whole);
  writer.Copy(begin, end);
  return writer.Take();
}

}  // namespace

// A state for the length of one call.
class Tokenizer::StateLease {
 public:
  explicit StateLease(const Tokenizer& owner) : owner_(owner) {
    {
      const std::lock_guard lock(owner_.mutex_);
      if (!owner_.idle_.empty()) {
        state_ = std::move(owner_.idle_.back());
        owner_.idle_.pop_back();
      }
    }
    if (!state_) state_ = owner_.parts_.model->NewState();
  }
  ~StateLease() {
    constexpr size_t kMostIdle = 16;
    const std::lock_guard lock(owner_.mutex_);
    if (owner_.idle_.size() < kMostIdle) owner_.idle_.push_back(std::move(state_));  // within the reserved room
  }
  StateLease(const StateLease&) = delete;
  StateLease& operator=(const StateLease&) = delete;

  ModelState& operator*() const { return *state_; }

 private:
  const Tokenizer& owner_;
  std::unique_ptr<ModelState> state_;
};

Tokenizer::Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  added_ = AddedTokens(std::move(parts_.added));
  limit_ = parts_.table->limit();
  if (parts_.others) limit_ = std::max(limit_, parts_.others->limit());
  for (const AddedToken& token : added_.tokens()) {
    limit_ = std::max(limit_, token.id + 1);
    has_normalized_added_ |= token.normalized;
  }
  idle_.reserve(16);
}

Tokenizer::~Tokenizer() = default;

std::vector<uint32_t> Tokenizer::Encode(std::string_view text, const EncodeOptions& options,
                                        std::vector<Span>* spans) const {
  if (text.size() > kLongestText) {
    throw Error(E_INVALIDARG, "a text of " + std::to_string(text.size()) + " bytes is longer than " +
                                  std::to_string(kLongestText) + " bytes");
  }
  std::string repaired;
  if (ValidPrefix(text) != text.size()) {
    // Spans must still fit the caller's text.
    if (spans || options.accepts)
      throw Error(E_INVALIDARG, "places in a text that is not well-formed UTF-8 are not supported");
    repaired = Repaired(text);
    text = repaired;
  }
  std::vector<uint32_t> ids;
  ids.reserve(text.size() / 4 + 8);
  if (spans) spans->clear();
  const auto add_special = [&](const std::vector<uint32_t>& tokens, size_t place) {
    if (!options.add_special_tokens) return;
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    if (spans) spans->insert(spans->end(), tokens.size(), {static_cast<uint32_t>(place), static_cast<uint32_t>(place)});
  };
  const StateLease state(*this);
  add_special(parts_.before, 0);
  size_t done = 0;
  for (const AddedTokens::Match& match :
       added_.FindAll(text, /*normalized=*/false, options.added_tokens, options.accepts)) {
    EncodeSection(text.substr(done, match.span.begin - done), done, options, *state, &ids, spans);
    ids.push_back(match.token->id);
    if (spans) spans->push_back(match.span);
    done = match.span.end;
  }
  EncodeSection(text.substr(done), done, options, *state, &ids, spans);
  add_special(parts_.after, text.size());
  return ids;
}

void Tokenizer::EncodeSection(std::string_view section, size_t offset, const EncodeOptions& options, ModelState& state,
                              std::vector<uint32_t>* ids, std::vector<Span>* spans) const {
  if (section.empty()) return;
  AlignedText text;
  text.text = section;
  text.first_source = offset;
  text.aligned = spans != nullptr || (has_normalized_added_ && options.accepts);
  if (text.aligned) {
    // Every byte stands for its whole character.
    text.sources.reserve(section.size());
    for (size_t at = 0; at < section.size();) {
      const uint32_t length = DecodeCharacter(section, at).length;
      const auto begin = static_cast<uint32_t>(offset + at);
      text.sources.insert(text.sources.end(), length, {begin, begin + length});
      at += length;
    }
  }
  if (parts_.normalizer) parts_.normalizer->Apply(&text);
  const auto encode = [&](AlignedText part) {
    if (part.text.empty()) return;
    Pieces pieces;
    pieces.spans.push_back({0, static_cast<uint32_t>(part.text.size())});
    pieces.text = std::move(part);
    if (parts_.normalizes_to_alphabet) pieces.form = Pieces::Form::kByteAlphabet;
    EncodePieces(std::move(pieces), state, ids, spans);
  };
  if (!has_normalized_added_) {
    encode(std::move(text));
    return;
  }
  AddedTokenFilter accepts;
  if (options.accepts) {
    accepts = [&](const AddedToken& token, Span place) {
      return options.accepts(token, {text.sources[place.begin].begin, text.sources[place.end - 1].end});
    };
  }
  const auto matches = added_.FindAll(text.text, /*normalized=*/true, options.added_tokens, accepts);
  size_t done = 0;
  for (const AddedTokens::Match& match : matches) {
    encode(Slice(text, done, match.span.begin));
    ids->push_back(match.token->id);
    if (spans) spans->push_back({text.sources[match.span.begin].begin, text.sources[match.span.end - 1].end});
    done = match.span.end;
  }
  if (done == 0) {
    encode(std::move(text));
  } else {
    encode(Slice(text, done, text.text.size()));
  }
}

void Tokenizer::EncodePieces(Pieces pieces, ModelState& state, std::vector<uint32_t>* ids,
                             std::vector<Span>* spans) const {
  if (parts_.pre_tokenizer) parts_.pre_tokenizer->Apply(&pieces);
  if (pieces.form == Pieces::Form::kByteAlphabet) WriteOutBytes(&pieces);
  const std::string_view text = pieces.text.text;
  std::vector<uint32_t> lengths;
  const TokenSink sink{ids, spans ? &lengths : nullptr};
  for (const Span piece : pieces.spans) {
    parts_.model->Encode(text.substr(piece.begin, piece.end - piece.begin), state, sink);
    if (!spans) continue;
    uint32_t at = piece.begin;
    for (const uint32_t length : lengths) {
      const uint32_t end = std::min(at + length, piece.end);
      const auto& sources = pieces.text.sources;
      if (end > at) {
        spans->push_back({sources[at].begin, sources[end - 1].end});
      } else {
        const uint32_t place = at < piece.end ? sources[at].begin : sources[piece.end - 1].end;
        spans->push_back({place, place});
      }
      at = end;
    }
    lengths.clear();
  }
}

bool Tokenizer::Has(uint32_t id) const {
  return parts_.table->Has(id) || (parts_.others && parts_.others->Has(id)) || added_.Find(id) != nullptr;
}

bool Tokenizer::IsSpecial(uint32_t id) const {
  const AddedToken* token = added_.Find(id);
  return token && token->special;
}

void Tokenizer::Require(uint32_t id) const {
  if (!Has(id)) throw Error(E_INVALIDARG, "the id " + std::to_string(id) + " is no token of " + parts_.label);
}

std::optional<uint32_t> Tokenizer::Find(std::string_view spelling) const {
  if (const AddedToken* token = added_.Find(spelling)) return token->id;
  std::string bytes;
  uint32_t id = kNoToken;
  if (!parts_.byte_level) {
    id = parts_.table->Find(spelling);
  } else if (FromByteAlphabet(spelling, &bytes)) {
    id = parts_.table->Find(bytes);
  } else if (parts_.others) {
    id = parts_.others->Find(spelling);
  }
  return id == kNoToken ? std::nullopt : std::optional(id);
}

std::string Tokenizer::Spelling(uint32_t id) const {
  Require(id);
  const AddedToken* token = added_.Find(id);
  return token ? token->content : TextOf(id);
}

std::string Tokenizer::TextOf(uint32_t id) const {
  if (const AddedToken* token = added_.Find(id)) return token->pattern;
  if (parts_.others && parts_.others->Has(id)) return std::string(parts_.others->Text(id));
  const std::string_view text = parts_.table->Text(id);
  return parts_.byte_level ? ToByteAlphabet(text) : std::string(text);
}

std::string Tokenizer::Decode(std::span<const uint32_t> ids, bool skip_special) const {
  std::vector<std::string> texts;
  const bool plain_bytes = parts_.byte_level && parts_.decoders.size() == 1 &&
                           parts_.decoders[0]->streaming() == TokenDecoder::Streaming::kBytes;
  std::string joined;
  for (const uint32_t id : ids) {
    Require(id);
    if (skip_special && IsSpecial(id)) continue;
    if (!plain_bytes) {
      texts.push_back(TextOf(id));
    } else if (parts_.table->Has(id) && !added_.Find(id)) {
      joined += parts_.table->Text(id);
    } else {
      joined += Bytes(id);
    }
  }
  if (plain_bytes) return ValidPrefix(joined) == joined.size() ? joined : Repaired(joined);
  for (const TokenDecoderPtr& decoder : parts_.decoders) decoder->Apply(&texts);
  return Join(texts);
}

std::string Tokenizer::Join(const std::vector<std::string>& texts) const {
  const bool spaces = parts_.decoders.empty() && !parts_.joins_without_spaces;
  std::string joined;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0 && spaces) joined += ' ';
    joined += texts[i];
  }
  return joined;
}

std::string Tokenizer::Bytes(uint32_t id) const {
  Require(id);
  std::string text = TextOf(id);
  for (const TokenDecoderPtr& decoder : parts_.decoders) {
    switch (decoder->streaming()) {
      case TokenDecoder::Streaming::kBytes: {
        std::string bytes;
        return FromByteAlphabet(text, &bytes) ? bytes : text;
      }
      case TokenDecoder::Streaming::kFallback:
        if (const int byte = ByteOfFallbackToken(text); byte >= 0) return std::string(1, static_cast<char>(byte));
        break;
      case TokenDecoder::Streaming::kFuse:
        return text;  // what follows looks at the whole text
      case TokenDecoder::Streaming::kStart:
      case TokenDecoder::Streaming::kEach:
      case TokenDecoder::Streaming::kContext: {
        // With a neighbour on each side, so that the borders of a text have no part in it.
        std::vector<std::string> texts = {"x", text, "x"};
        decoder->Apply(&texts);
        text = texts.size() == 3 ? texts[1] : text;
        break;
      }
    }
  }
  return text;
}

}  // namespace owml::text
