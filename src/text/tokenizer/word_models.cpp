// WordPiece and WordLevel.
// Called by the Tokenizer.
#include "text/tokenizer/word_models.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "text/tokenizer/piece_cache.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

struct WordState : ModelState {
  PieceCache cache;
  std::vector<uint32_t> ids;
  std::vector<uint32_t> lengths;
};

[[noreturn]] void ThrowNoUnknown() {
  throw Error(E_INVALIDARG, "the text holds a word that is no token, and the vocabulary has no unknown token");
}

}  // namespace

WordPieceModel::WordPieceModel(std::shared_ptr<const TokenTable> table, WordPieceOptions options)
    : table_(std::move(table)), options_(std::move(options)) {
  std::vector<std::pair<std::string_view, uint32_t>> starting;
  std::vector<std::pair<std::string_view, uint32_t>> continuing;
  for (uint32_t id = 0; id < table_->limit(); ++id) {
    if (!table_->Has(id)) continue;
    const std::string_view text = table_->Text(id);
    if (text.starts_with(options_.start_prefix)) starting.emplace_back(text.substr(options_.start_prefix.size()), id);
    if (text.starts_with(options_.continuing_prefix)) {
      continuing.emplace_back(text.substr(options_.continuing_prefix.size()), id);
    }
  }
  starting_ = TokenTrie(std::move(starting));
  continuing_ = TokenTrie(std::move(continuing));
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
    const TokenTrie& trie = start == 0 ? starting_ : continuing_;
    TokenTrie::Cursor cursor;
    uint32_t best = TokenTrie::kNoValue;
    size_t best_end = start;
    for (size_t end = start;
         !trie.empty() && end < piece.size() && trie.Step(&cursor, static_cast<uint8_t>(piece[end]));) {
      ++end;
      if (trie.Value(cursor) != TokenTrie::kNoValue) {
        best = trie.Value(cursor);
        best_end = end;
      }
    }
    known = best != TokenTrie::kNoValue;
    state.ids.push_back(best);
    state.lengths.push_back(static_cast<uint32_t>(best_end - start));
    start = best_end;
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
