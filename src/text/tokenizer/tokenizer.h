// A tokenizer: text to token ids and back, from any kind of tokenizer file. Immutable; usable from several threads.
// Called by the tokenizer objects of the API, the formatter and the command line.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/decoder.h"
#include "text/tokenizer/model.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pre_tokenizer.h"
#include "text/tokenizer/token_table.h"

namespace owml::text {

// What a reader of tokenizer files puts together.
struct TokenizerParts {
  std::string label;                         // the file, for messages
  bool byte_level = false;                   // the table holds bytes, not their spelling in the alphabet of bytes
  std::shared_ptr<const TokenTable> table;   // the model's tokens
  std::shared_ptr<const TokenTable> others;  // byte-level: tokens that are not in the alphabet, as they stand
  std::unique_ptr<const Model> model;
  NormalizerPtr normalizer;
  bool normalizes_to_alphabet = false;  // the normalizer writes the alphabet of bytes
  PreTokenizerPtr pre_tokenizer;
  std::vector<AddedToken> added;
  std::vector<TokenDecoderPtr> decoders;  // none: token texts are joined by spaces, as Hugging Face's tokenizers do
  bool joins_without_spaces = false;      // with no decoders: joined by nothing
  std::vector<uint32_t> before;           // special tokens around a text
  std::vector<uint32_t> after;
  std::optional<uint32_t> bos;
  std::vector<uint32_t> eos;
};

struct EncodeOptions {
  bool add_special_tokens = false;
  AddedTokenUse added_tokens = AddedTokenUse::kAll;
  AddedTokenFilter accepts = {};  // of those; places are bytes of the text that is encoded
};

class Tokenizer {
 public:
  static constexpr size_t kLongestText = size_t{1} << 30;

  explicit Tokenizer(TokenizerParts parts);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const std::string& label() const { return parts_.label; }

  // Malformed UTF-8 counts as U+FFFD. `spans`, where wanted, gets the bytes of `text` that each token stands for;
  // tokens that were added around it stand for nothing. Throws E_INVALIDARG for a text that is too long.
  std::vector<uint32_t> Encode(std::string_view text, const EncodeOptions& options,
                               std::vector<Span>* spans = nullptr) const;

  // Throws E_INVALIDARG for an id that is no token.
  std::string Decode(std::span<const uint32_t> ids, bool skip_special) const;

  // One more than the largest id; ids below may be free.
  uint32_t limit() const { return limit_; }
  bool Has(uint32_t id) const;
  bool IsSpecial(uint32_t id) const;
  // The id of a token as the vocabulary spells it ("Ġthe", "<0x0A>", "##ing").
  std::optional<uint32_t> Find(std::string_view spelling) const;
  // E_INVALIDARG for an id that is no token.
  std::string Spelling(uint32_t id) const;
  // The bytes that a token adds in the middle of a text, perhaps a part of a character.
  std::string Bytes(uint32_t id) const;

  const std::optional<uint32_t>& bos() const { return parts_.bos; }
  const std::vector<uint32_t>& eos() const { return parts_.eos; }
  const AddedTokens& added() const { return added_; }

 private:
  friend class StreamingDecoder;
  class StateLease;

  void EncodeSection(std::string_view section, size_t offset, const EncodeOptions& options, ModelState& state,
                     std::vector<uint32_t>* ids, std::vector<Span>* spans) const;
  void EncodePieces(Pieces pieces, ModelState& state, std::vector<uint32_t>* ids, std::vector<Span>* spans) const;
  // As the decoders expect it.
  std::string TextOf(uint32_t id) const;
  // What the decoders have left, as one text.
  std::string Join(const std::vector<std::string>& texts) const;
  void Require(uint32_t id) const;

  TokenizerParts parts_;
  AddedTokens added_;
  uint32_t limit_ = 0;
  bool has_normalized_added_ = false;

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<ModelState>> idle_;  // kept for the next call
};

}  // namespace owml::text
