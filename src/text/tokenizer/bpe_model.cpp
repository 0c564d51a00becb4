// Byte-pair encoding. A piece is cut where no merge can reach across; short parts are looked up in a cache, then merged
// by looking through them; long ones with a priority queue.
// Called by the Tokenizer.
#include "text/tokenizer/bpe_model.h"

#include <algorithm>
#include <bit>
#include <queue>

#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/piece_cache.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

constexpr size_t kFew = 24;  // symbols; above, the priority queue is faster

}  // namespace

struct BpeModel::State : ModelState {
  struct Node {
    uint32_t id;
    uint32_t length;  // bytes; 0 when joined to the left
    uint32_t previous;
    uint32_t next;
  };
  struct Candidate {
    uint32_t rank;
    uint32_t position;
    uint32_t joined;
    // The smallest rank comes first, then the leftmost.
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };

  PieceCache cache;
  std::vector<Symbol> symbols;
  std::vector<Symbol> merged;
  std::vector<const Slot*> pairs;
  std::vector<Node> nodes;
  std::vector<Candidate> queue;
  std::vector<uint32_t> ids;
  std::vector<uint32_t> lengths;
};

BpeModel::BpeModel(std::shared_ptr<const TokenTable> table, std::vector<BpeMerge> merges, BpeOptions options,
                   std::vector<std::string> part_texts)
    : table_(std::move(table)), options_(std::move(options)) {
  plain_ = options_.prefix.empty() && options_.suffix.empty();
  uint32_t part = table_->limit();
  for (const std::string& text : part_texts) parts_.Add(text, part++);
  BuildMerges(merges);
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    byte_symbols_[byte] = options_.bytes || byte < 0x80 ? SymbolOf(text) : kNoToken;
    fallback_symbols_[byte] =
        options_.byte_fallback ? table_->Find(FallbackToken(static_cast<uint8_t>(byte))) : kNoToken;
  }
  BuildBorders(merges);
}

BpeModel::~BpeModel() = default;

uint32_t BpeModel::SymbolOf(std::string_view text) const {
  const uint32_t token = table_->Find(text);
  return token != kNoToken ? token : parts_.Find(text);
}

void BpeModel::BuildMerges(const std::vector<BpeMerge>& merges) {
  if (merges.empty()) return;
  slots_.resize(std::bit_ceil(merges.size() * 2));
  slot_mask_ = slots_.size() - 1;
  for (const BpeMerge& merge : merges) {
    size_t slot = MergeHash(merge.left, merge.right) & slot_mask_;
    while (slots_[slot].left != kNoToken && (slots_[slot].left != merge.left || slots_[slot].right != merge.right)) {
      slot = (slot + 1) & slot_mask_;
    }
    slots_[slot] = {merge.left, merge.right, merge.rank, merge.joined};
  }
}

// A merge can only happen between symbols that its two sides end and begin with. One bit for each hashed pair of
// symbols: a collision only means that a cut is missed.
void BpeModel::BuildBorders(const std::vector<BpeMerge>& merges) {
  borders_.assign(std::bit_ceil(std::max<size_t>(merges.size() * 8, 64)) / 64, 0);
  border_mask_ = borders_.size() * 64 - 1;
  const auto text_of = [this](uint32_t id) { return table_->Has(id) ? table_->Text(id) : parts_.Text(id); };
  // What a token begins or ends with: a symbol, and the token itself where it is one.
  struct Ends {
    std::array<uint32_t, 2> symbols;
    uint32_t count = 0;  // 0: not looked up
  };
  std::array<std::vector<Ends>, 2> known;  // of each token the beginning, the end
  for (std::vector<Ends>& side : known) side.resize(std::max(table_->limit(), parts_.limit()));
  const auto ends = [&](uint32_t id, bool last) -> const Ends& {
    Ends& found = known[last ? 1 : 0][id];
    if (found.count != 0) return found;
    const std::string_view text = text_of(id);
    if (!text.empty()) {
      std::string_view end;
      if (options_.bytes) {
        end = last ? text.substr(text.size() - 1) : text.substr(0, 1);
      } else {
        const size_t start = last ? PreviousCharacter(text, text.size()) : 0;
        end = text.substr(start, DecodeCharacter(text, start).length);
      }
      const uint32_t symbol = CharacterSymbol(end);
      if (symbol != kNoToken) found.symbols[found.count++] = symbol;
    }
    if (ByteOfFallbackToken(text) >= 0 || found.count == 0) found.symbols[found.count++] = id;
    return found;
  };
  for (const BpeMerge& merge : merges) {
    const Ends& left = ends(merge.left, true);
    const Ends& right = ends(merge.right, false);
    for (uint32_t i = 0; i < left.count; ++i) {
      for (uint32_t j = 0; j < right.count; ++j) {
        const size_t bit = MergeHash(left.symbols[i], right.symbols[j]) & border_mask_;
        borders_[bit >> 6] |= uint64_t{1} << (bit & 63);
      }
    }
    if (options_.unknown && (merge.left == *options_.unknown || merge.right == *options_.unknown)) {
      std::fill(borders_.begin(), borders_.end(), ~uint64_t{0});  // its text is not what it stands for
    }
  }
}

uint32_t BpeModel::CharacterSymbol(std::string_view character) const {
  if (character.size() == 1) return byte_symbols_[static_cast<uint8_t>(character[0])];
  return SymbolOf(character);
}

std::unique_ptr<ModelState> BpeModel::NewState() const { return std::make_unique<State>(); }

void BpeModel::AddSymbols(std::string_view piece, std::vector<Symbol>* symbols) const {
  if (plain_ && options_.bytes && !options_.unknown && !options_.byte_fallback) {
    for (const char byte : piece) {
      const uint32_t symbol = byte_symbols_[static_cast<uint8_t>(byte)];
      if (symbol != kNoToken) symbols->push_back({symbol, 1});
    }
    return;
  }
  std::optional<Symbol> unknown;  // waits for more of its kind
  std::string decorated;
  for (size_t at = 0; at < piece.size();) {
    const uint32_t length = options_.bytes ? 1 : DecodeCharacter(piece, at).length;
    std::string_view text = piece.substr(at, length);
    uint32_t symbol = kNoToken;
    if (plain_) {
      symbol = CharacterSymbol(text);
    } else {
      decorated.clear();
      if (at > 0) decorated += options_.prefix;
      decorated += text;
      if (at + length == piece.size()) decorated += options_.suffix;
      text = decorated;
      symbol = SymbolOf(text);
    }
    at += length;
    if (symbol != kNoToken) {
      if (unknown) symbols->push_back(*unknown);
      unknown.reset();
      symbols->push_back({symbol, length});
      continue;
    }
    if (options_.byte_fallback) {
      const auto missing = [this](char byte) { return fallback_symbols_[static_cast<uint8_t>(byte)] == kNoToken; };
      if (std::none_of(text.begin(), text.end(), missing)) {
        for (const char byte : text) symbols->push_back({fallback_symbols_[static_cast<uint8_t>(byte)], 1});
        continue;  // an unknown token that waits comes behind these, as in Hugging Face's tokenizers
      }
    }
    if (!options_.unknown) continue;
    if (unknown && options_.fuse_unknown) {
      unknown->length += length;
    } else {
      if (unknown) symbols->push_back(*unknown);
      unknown = Symbol{*options_.unknown, length};
    }
  }
  if (unknown) symbols->push_back(*unknown);
}

void BpeModel::Encode(std::string_view piece, ModelState& model_state, const TokenSink& sink) const {
  if (piece.empty()) return;
  State& state = static_cast<State&>(model_state);
  PieceCache::Place place;
  const bool cached = piece.size() <= PieceCache::kLongestPiece;
  if (cached && state.cache.Find(piece, sink, &place)) return;
  if (options_.ignore_merges) {
    if (const uint32_t token = table_->Find(piece); token != kNoToken) {
      sink.Add(token, static_cast<uint32_t>(piece.size()));
      if (cached) {
        const auto length = static_cast<uint32_t>(piece.size());
        state.cache.Store(place, piece, {&token, 1}, {&length, 1});
      }
      return;
    }
  }
  if (!cached) {
    EncodeSymbols(piece, state, sink);
    return;
  }
  state.symbols.clear();
  AddSymbols(piece, &state.symbols);
  state.merged.clear();
  Merge(state.symbols, state, &state.merged);
  state.ids.clear();
  state.lengths.clear();
  const TokenSink own{&state.ids, &state.lengths};
  size_t at = 0;
  for (const Symbol& symbol : state.merged) {
    Emit(piece.substr(at, symbol.length), symbol, own);
    at += symbol.length;
  }
  state.cache.Store(place, piece, state.ids, state.lengths);
  for (size_t i = 0; i < state.ids.size(); ++i) sink.Add(state.ids[i], state.lengths[i]);
}

// A long piece: cut between symbols that never join. With ignored merges a cut part must not be taken from the cache,
// in which a whole piece may be one token.
void BpeModel::EncodeSymbols(std::string_view piece, State& state, const TokenSink& sink) const {
  state.symbols.clear();
  AddSymbols(piece, &state.symbols);
  const std::vector<Symbol>& symbols = state.symbols;
  const bool use_cache = plain_ && !options_.ignore_merges;
  size_t at = 0;  // in `piece`; only right where symbols cover all of it, as they do below
  uint64_t covered = 0;
  for (const Symbol& symbol : symbols) covered += symbol.length;
  const bool exact = covered == piece.size();
  for (size_t begin = 0; begin < symbols.size();) {
    size_t end = begin + 1;
    size_t length = symbols[begin].length;
    while (end < symbols.size() && (!plain_ || MayJoin(symbols[end - 1].id, symbols[end].id))) {
      length += symbols[end].length;
      ++end;
    }
    const std::string_view part = exact ? piece.substr(at, length) : std::string_view();
    at += length;
    if (end - begin == 1) {
      Emit(part, symbols[begin], sink);
      begin = end;
      continue;
    }
    PieceCache::Place place;
    const bool cached = use_cache && exact && part.size() <= PieceCache::kLongestPiece;
    if (!cached || !state.cache.Find(part, sink, &place)) {
      state.merged.clear();
      Merge(std::span<const Symbol>(symbols).subspan(begin, end - begin), state, &state.merged);
      state.ids.clear();
      state.lengths.clear();
      const TokenSink own{&state.ids, &state.lengths};
      size_t inner = 0;
      for (const Symbol& symbol : state.merged) {
        Emit(exact ? part.substr(inner, symbol.length) : std::string_view(), symbol, own);
        inner += symbol.length;
      }
      if (cached) state.cache.Store(place, part, state.ids, state.lengths);
      for (size_t i = 0; i < state.ids.size(); ++i) sink.Add(state.ids[i], state.lengths[i]);
    }
    begin = end;
  }
}

void BpeModel::Merge(std::span<const Symbol> symbols, State& state, std::vector<Symbol>* merged) const {
  if (symbols.size() <= kFew) {
    MergeFew(symbols, state, merged);
  } else {
    MergeMany(symbols, state, merged);
  }
}

void BpeModel::MergeFew(std::span<const Symbol> symbols, State& state, std::vector<Symbol>* merged) const {
  merged->assign(symbols.begin(), symbols.end());
  std::vector<const Slot*>& pairs = state.pairs;  // of each symbol with the next one
  pairs.clear();
  for (size_t i = 0; i + 1 < merged->size(); ++i) pairs.push_back(FindMerge((*merged)[i].id, (*merged)[i + 1].id));
  for (;;) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (pairs[i] && (best == SIZE_MAX || pairs[i]->rank < pairs[best]->rank)) best = i;
    }
    if (best == SIZE_MAX) return;
    (*merged)[best] = {pairs[best]->joined, (*merged)[best].length + (*merged)[best + 1].length};
    merged->erase(merged->begin() + static_cast<std::ptrdiff_t>(best) + 1);
    pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(best));
    if (best > 0) pairs[best - 1] = FindMerge((*merged)[best - 1].id, (*merged)[best].id);
    if (best < pairs.size()) pairs[best] = FindMerge((*merged)[best].id, (*merged)[best + 1].id);
  }
}

void BpeModel::MergeMany(std::span<const Symbol> symbols, State& state, std::vector<Symbol>* merged) const {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<State::Node>& nodes = state.nodes;
  std::vector<State::Candidate>& queue = state.queue;
  nodes.clear();
  queue.clear();
  const auto count = static_cast<uint32_t>(symbols.size());
  for (uint32_t i = 0; i < count; ++i) {
    nodes.push_back({symbols[i].id, symbols[i].length, i == 0 ? kNone : i - 1, i + 1 == count ? kNone : i + 1});
    if (i == 0) continue;
    if (const Slot* slot = FindMerge(symbols[i - 1].id, symbols[i].id))
      queue.push_back({slot->rank, i - 1, slot->joined});
  }
  std::make_heap(queue.begin(), queue.end());
  const auto offer = [&](uint32_t left, uint32_t right) {
    if (const Slot* slot = FindMerge(nodes[left].id, nodes[right].id)) {
      queue.push_back({slot->rank, left, slot->joined});
      std::push_heap(queue.begin(), queue.end());
    }
  };
  while (!queue.empty()) {
    const State::Candidate top = queue.front();
    std::pop_heap(queue.begin(), queue.end());
    queue.pop_back();
    State::Node& left = nodes[top.position];
    if (left.length == 0 || left.next == kNone) continue;
    State::Node& right = nodes[left.next];
    const Slot* slot = FindMerge(left.id, right.id);
    if (!slot || slot->joined != top.joined) continue;  // one side has changed since
    left.id = top.joined;
    left.length += right.length;
    right.length = 0;
    left.next = right.next;
    if (left.next != kNone) nodes[left.next].previous = top.position;
    if (left.previous != kNone) offer(left.previous, top.position);
    if (left.next != kNone) offer(top.position, left.next);
  }
  for (const State::Node& node : nodes) {
    if (node.length != 0) merged->push_back({node.id, node.length});
  }
  // A very long piece must not hold memory for ever.
  constexpr size_t kKeep = 1 << 16;
  if (nodes.capacity() > kKeep) std::vector<State::Node>().swap(nodes);
  if (queue.capacity() > kKeep) std::vector<State::Candidate>().swap(queue);
}

// A part that is no token stands for its bytes.
void BpeModel::Emit(std::string_view text, const Symbol& symbol, const TokenSink& sink) const {
  if (symbol.id < table_->limit()) {
    sink.Add(symbol.id, symbol.length);
    return;
  }
  bool whole = !text.empty();
  for (const char byte : text) whole &= fallback_symbols_[static_cast<uint8_t>(byte)] != kNoToken;
  if (whole) {
    for (const char byte : text) sink.Add(fallback_symbols_[static_cast<uint8_t>(byte)], 1);
  } else if (options_.unknown) {
    sink.Add(*options_.unknown, symbol.length);
  }
}

}  // namespace owml::text
