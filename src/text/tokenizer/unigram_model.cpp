// The Viterbi search over a trie of the tokens.
// Called by the Tokenizer.
#include "text/tokenizer/unigram_model.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/piece_cache.h"
#include "text/unicode/utf8.h"

namespace owml::text {

struct UnigramModel::State : ModelState {
  // The best way to reach a place of the piece.
  struct Node {
    double score = 0;
    uint32_t start = UINT32_MAX;  // of the last token; none yet
    uint32_t id = 0;
  };

  PieceCache cache;
  std::vector<Node> nodes;
  std::vector<std::pair<uint32_t, uint32_t>> path;  // id (kNoToken: unknown) and end
  std::vector<uint32_t> ids;
  std::vector<uint32_t> lengths;
};

UnigramModel::UnigramModel(std::shared_ptr<const TokenTable> table, std::vector<std::optional<double>> scores,
                           double unknown_score, Options options)
    : table_(std::move(table)), unknown_score_(unknown_score), options_(options) {
  std::vector<std::pair<std::string_view, uint32_t>> entries;
  scores_.resize(scores.size());
  for (uint32_t id = 0; id < scores.size(); ++id) {
    if (!scores[id] || !table_->Has(id)) continue;
    scores_[id] = *scores[id];
    entries.emplace_back(table_->Text(id), id);
  }
  trie_ = TokenTrie(std::move(entries));
  for (uint32_t byte = 0; byte < 256; ++byte) {
    fallback_[byte] = options_.byte_fallback ? table_->Find(FallbackToken(static_cast<uint8_t>(byte))) : kNoToken;
  }
}

UnigramModel::~UnigramModel() = default;

std::unique_ptr<ModelState> UnigramModel::NewState() const { return std::make_unique<State>(); }

void UnigramModel::Search(std::string_view piece, State& state) const {
  std::vector<State::Node>& nodes = state.nodes;
  nodes.assign(piece.size() + 1, {});
  const auto offer = [&nodes](size_t start, size_t end, double score, uint32_t id) {
    State::Node& node = nodes[end];
    if (node.start == UINT32_MAX || score > node.score) node = {score, static_cast<uint32_t>(start), id};
  };
  for (size_t at = 0; at < piece.size();) {
    const size_t length = options_.bytes ? 1 : DecodeCharacter(piece, at).length;
    const double so_far = nodes[at].score;
    bool single = false;
    TokenTrie::Cursor cursor;
    for (size_t end = at;
         !trie_.empty() && end < piece.size() && trie_.Step(&cursor, static_cast<uint8_t>(piece[end]));) {
      ++end;
      const uint32_t id = trie_.Value(cursor);
      if (id == TokenTrie::kNoValue) continue;
      offer(at, end, so_far + scores_[id], id);
      single |= end - at == length;
    }
    if (!single) {
      if (!options_.unknown) {
        throw Error(E_INVALIDARG,
                    "the text holds a character that is no token, and the vocabulary has no unknown token");
      }
      offer(at, at + length, so_far + unknown_score_, kNoToken);
    }
    at += length;
  }
  state.path.clear();
  for (size_t end = piece.size(); end > 0; end = nodes[end].start) {
    const uint32_t id = nodes[end].id;
    state.path.emplace_back(id == options_.unknown ? kNoToken : id, static_cast<uint32_t>(end));
  }
  std::reverse(state.path.begin(), state.path.end());
  constexpr size_t kKeep = 1 << 16;
  if (nodes.capacity() > kKeep) std::vector<State::Node>().swap(nodes);
}

void UnigramModel::Encode(std::string_view piece, ModelState& model_state, const TokenSink& sink) const {
  if (piece.empty()) return;
  State& state = static_cast<State&>(model_state);
  PieceCache::Place place;
  const bool cached = piece.size() <= PieceCache::kLongestPiece;
  if (cached && state.cache.Find(piece, sink, &place)) return;
  Search(piece, state);
  state.ids.clear();
  state.lengths.clear();
  const TokenSink own{&state.ids, &state.lengths};
  uint32_t start = 0;
  for (size_t i = 0; i < state.path.size(); ++i) {
    auto [id, end] = state.path[i];
    if (id == kNoToken) {
      // Unknown characters in a row are one.
      while (i + 1 < state.path.size() && state.path[i + 1].first == kNoToken) end = state.path[++i].second;
      const std::string_view text = piece.substr(start, end - start);
      const auto missing = [this](char byte) { return fallback_[static_cast<uint8_t>(byte)] == kNoToken; };
      const uint32_t known = table_->Find(text);
      if (known != kNoToken) {
        own.Add(known, end - start);  // joined they are a token after all
      } else if (options_.byte_fallback && std::none_of(text.begin(), text.end(), missing)) {
        for (const char byte : text) own.Add(fallback_[static_cast<uint8_t>(byte)], 1);
      } else {
        own.Add(*options_.unknown, end - start);
      }
    } else {
      own.Add(id, end - start);
    }
    start = end;
  }
  if (cached) state.cache.Store(place, piece, state.ids, state.lengths);
  for (size_t i = 0; i < state.ids.size(); ++i) sink.Add(state.ids[i], state.lengths[i]);
}

}  // namespace owml::text
