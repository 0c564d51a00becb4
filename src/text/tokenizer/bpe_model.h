// Byte-pair encoding: characters or bytes joined in the order of ranked merges.
// Made by the readers of tokenizer.json and of GGUF vocabularies.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/model.h"
#include "text/tokenizer/token_table.h"

namespace owml::text {

struct BpeMerge {
  uint32_t left = 0;
  uint32_t right = 0;
  uint32_t joined = 0;
  uint32_t rank = 0;
};

struct BpeOptions {
  bool bytes = false;          // symbols are bytes, else characters
  bool byte_fallback = false;  // characters that are no token become tokens "<0x..>"
  bool ignore_merges = false;  // a piece that is a token is that token
  bool fuse_unknown = false;
  std::optional<uint32_t> unknown;
  std::string prefix;  // before each symbol but the first
  std::string suffix;  // behind the last symbol
};

class BpeModel : public Model {
 public:
  // Merges of the same two tokens: the last one counts. Tokens of merges may lie above the table's limit: parts that
  // are no tokens themselves, such as characters of an SPM vocabulary; `part_texts` spells them from the limit on.
  BpeModel(std::shared_ptr<const TokenTable> table, std::vector<BpeMerge> merges, BpeOptions options,
           std::vector<std::string> part_texts = {});
  ~BpeModel() override;

  std::unique_ptr<ModelState> NewState() const override;
  void Encode(std::string_view piece, ModelState& state, const TokenSink& sink) const override;

 private:
  struct State;
  struct Symbol {
    uint32_t id;
    uint32_t length;
  };
  struct Slot {
    uint32_t left = kNoToken;
    uint32_t right = kNoToken;
    uint32_t rank = 0;
    uint32_t joined = 0;
  };

  void BuildMerges(const std::vector<BpeMerge>& merges);
  void BuildBorders(const std::vector<BpeMerge>& merges);
  uint32_t SymbolOf(std::string_view text) const;
  uint32_t CharacterSymbol(std::string_view character) const;
  void AddSymbols(std::string_view piece, std::vector<Symbol>* symbols) const;
  void EncodeSymbols(std::string_view piece, State& state, const TokenSink& sink) const;
  void Merge(std::span<const Symbol> symbols, State& state, std::vector<Symbol>* merged) const;
  void MergeFew(std::span<const Symbol> symbols, State& state, std::vector<Symbol>* merged) const;
  void MergeMany(std::span<const Symbol> symbols, State& state, std::vector<Symbol>* merged) const;
  void Emit(std::string_view text, const Symbol& symbol, const TokenSink& sink) const;

  const Slot* FindMerge(uint32_t left, uint32_t right) const {
    if (slots_.empty()) return nullptr;
    for (size_t slot = MergeHash(left, right) & slot_mask_;; slot = (slot + 1) & slot_mask_) {
      const Slot& found = slots_[slot];
      if (found.left == left && found.right == right) return &found;
      if (found.left == kNoToken) return nullptr;
    }
  }
  static size_t MergeHash(uint32_t left, uint32_t right) {
    const uint64_t hash = (uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15u;
    return static_cast<size_t>(hash ^ hash >> 32);
  }
  // False where no merge can ever join the two symbols or what has grown from them.
  bool MayJoin(uint32_t left, uint32_t right) const {
    const size_t bit = MergeHash(left, right) & border_mask_;
    return (borders_[bit >> 6] >> (bit & 63)) & 1;
  }

  std::shared_ptr<const TokenTable> table_;
  BpeOptions options_;
  TokenTable parts_;
  std::vector<Slot> slots_;
  size_t slot_mask_ = 0;
  std::vector<uint64_t> borders_;
  size_t border_mask_ = 0;
  std::array<uint32_t, 256> byte_symbols_;      // the symbol of a byte, or of an ASCII character
  std::array<uint32_t, 256> fallback_symbols_;  // "<0x..>"
  bool plain_ = true;                           // no prefix and no suffix
};

}  // namespace owml::text
