// The models whose pieces are words: WordPiece (the longest token first, again and again) and WordLevel (whole words).
// Made by the readers of tokenizer.json and of GGUF vocabularies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/tokenizer/model.h"
#include "text/tokenizer/token_table.h"

namespace owml::text {

struct WordPieceOptions {
  std::optional<uint32_t> unknown;
  std::string start_prefix;       // spelled before what begins a word
  std::string continuing_prefix;  // spelled before what does not
  uint32_t longest_word = 100;    // characters
};

class WordPieceModel : public Model {
 public:
  // ERROR_NOT_SUPPORTED for a token of more than 256 bytes: every start of a word tries every shorter length.
  WordPieceModel(std::shared_ptr<const TokenTable> table, WordPieceOptions options);

  std::unique_ptr<ModelState> NewState() const override;
  void Encode(std::string_view piece, ModelState& state, const TokenSink& sink) const override;

 private:
  void AddUnknown(std::string_view piece, const TokenSink& sink) const;

  std::shared_ptr<const TokenTable> table_;
  WordPieceOptions options_;
  size_t longest_token_ = 0;  // bytes, with its prefix
};

class WordLevelModel : public Model {
 public:
  WordLevelModel(std::shared_ptr<const TokenTable> table, std::optional<uint32_t> unknown);

  std::unique_ptr<ModelState> NewState() const override;
  void Encode(std::string_view piece, ModelState& state, const TokenSink& sink) const override;

 private:
  std::shared_ptr<const TokenTable> table_;
  std::optional<uint32_t> unknown_;
};

}  // namespace owml::text
