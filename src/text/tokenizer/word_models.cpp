// WordPiece and WordLevel.
// Called by the Tokenizer.
#include "text/tokenizer/word_models.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/tokenizer/piece_cache.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

constexpr size_t kLongestToken = 256;  // bytes; real ones stay below 64

struct WordState : ModelState {
  PieceCache cache;
  std::vector<uint32_t> ids;
  std::vector<uint32_t> lengths;
  std::string spelled;  // what is looked up
};

[[noreturn]] void ThrowNoUnknown() {
  throw Error(E_INVALIDARG, "the text holds a word that is no token, and the vocabulary has no unknown token");
}

}  // namespace

WordPieceModel::WordPieceModel(std::shared_ptr<const TokenTable> table, WordPieceOptions options)
    : table_(std::move(table)), options_(std::move(options)) {
  for (uint32_t id = 0; id < table_->limit(); ++id) {
    if (table_->Has(id)) longest_token_ = std::max(longest_token_, table_->Text(id).size());
  }
  if (longest_token_ > kLongestToken) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "a WordPiece vocabulary with a token of " +
                                                             std::to_string(longest_token_) + " bytes; at most " +
                                                             std::to_string(kLongestToken) + " are supported");
  }
}

std::unique_ptr<ModelState> WordPieceModel::NewState() const { return std::make_unique<WordState>(); }

void WordPieceModel::AddUnknown(std::string_view piece, const TokenSink& sink) const {
  if (!options_.unknown) ThrowNoUnknown();
  sink.Add(*options_.unknown, static_cast<uint32_t>(piece.size()));
}

void WordPieceModel::Encode(std::string_view piece, ModelState& model_state, const TokenSink& sink) const {
  if (piece.empty()) return;
  WordState& state = static_cast<WordState&>(model_state);
  if (piece.size() > options_.longest_word) {
    uint32_t characters = 0;
    for (const char byte : piece) characters += (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
    if (characters > options_.longest_word) return AddUnknown(piece, sink);
  }
  PieceCache::Place place;
  const bool cached = piece.size() <= PieceCache::kLongestPiece;
  if (cached && state.cache.Find(piece, sink, &place)) return;
  state.ids.clear();
  state.lengths.clear();
  bool known = true;
  for (size_t start = 0; start < piece.size() && known;) {
    // The longest token that the rest begins with. Tokens are well-formed, so none ends inside a character.
    const std::string& prefix = start == 0 ? options_.start_prefix : options_.continuing_prefix;
    const size_t room = longest_token_ - std::min(longest_token_, prefix.size());
    size_t length = std::min(piece.size() - start, room);
    state.spelled.assign(prefix).append(piece.substr(start, length));
    uint32_t best = kNoToken;
    for (; length > 0; --length) {
      best = table_->Find(std::string_view(state.spelled).substr(0, prefix.size() + length));
      if (best != kNoToken) break;
    }
    known = best != kNoToken;
    state.ids.push_back(best);
    state.lengths.push_back(static_cast<uint32_t>(length));
    start += length;
  }
  if (!known) {
    state.ids.clear();
    state.lengths.clear();
    AddUnknown(piece, {&state.ids, &state.lengths});
  }
  if (cached) state.cache.Store(place, piece, state.ids, state.lengths);
  for (size_t i = 0; i < state.ids.size(); ++i) sink.Add(state.ids[i], state.lengths[i]);
}

WordLevelModel::WordLevelModel(std::shared_ptr<const TokenTable> table, std::optional<uint32_t> unknown)
    : table_(std::move(table)), unknown_(unknown) {}

std::unique_ptr<ModelState> WordLevelModel::NewState() const { return std::make_unique<WordState>(); }

void WordLevelModel::Encode(std::string_view piece, ModelState&, const TokenSink& sink) const {
  uint32_t id = table_->Find(piece);
  if (id == kNoToken) {
    if (!unknown_) ThrowNoUnknown();
    id = *unknown_;
  }
  sink.Add(id, static_cast<uint32_t>(piece.size()));
}

}  // namespace owml::text
