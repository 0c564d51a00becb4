// Unigram: of all ways to cut a piece into tokens the one with the highest sum of scores.
// Made by the readers of tokenizer.json and of GGUF vocabularies.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "text/tokenizer/model.h"
#include "text/tokenizer/token_table.h"
#include "text/tokenizer/token_trie.h"

namespace owml::text {

class UnigramModel : public Model {
 public:
  struct Options {
    std::optional<uint32_t> unknown;
    bool byte_fallback = false;
    bool bytes = false;  // pieces are bytes, else UTF-8
  };

  // `scores` by id, for the ids that may be used; `unknown_score` for a character that is no token.
  UnigramModel(std::shared_ptr<const TokenTable> table, std::vector<std::optional<double>> scores, double unknown_score,
               Options options);
  ~UnigramModel() override;

  std::unique_ptr<ModelState> NewState() const override;
  void Encode(std::string_view piece, ModelState& state, const TokenSink& sink) const override;

 private:
  struct State;
  void Search(std::string_view piece, State& state) const;

  std::shared_ptr<const TokenTable> table_;
  std::vector<double> scores_;
  double unknown_score_;
  Options options_;
  TokenTrie trie_;
  std::array<uint32_t, 256> fallback_;
};

}  // namespace owml::text
