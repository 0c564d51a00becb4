// What turns one piece of text into tokens: the contract of the models (BPE, Unigram, WordPiece, WordLevel).
// Called by the Tokenizer with pieces that the pre-tokenizers have cut.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace owml::text {

// Tokens in order, and, where `lengths` is wanted, how many bytes of the piece each one covers.
struct TokenSink {
  std::vector<uint32_t>* ids = nullptr;
  std::vector<uint32_t>* lengths = nullptr;

  void Add(uint32_t id, uint32_t length) const {
    ids->push_back(id);
    if (lengths) lengths->push_back(length);
  }
};

// Caches and buffers of one thread at a time.
class ModelState {
 public:
  virtual ~ModelState() = default;
};

class Model {
 public:
  virtual ~Model() = default;

  virtual std::unique_ptr<ModelState> NewState() const = 0;
  // `state` comes from NewState of this model. `piece` is well-formed UTF-8 unless the vocabulary is byte-level.
  virtual void Encode(std::string_view piece, ModelState& state, const TokenSink& sink) const = 0;
};

}  // namespace owml::text
