// One token sequence inside llama.cpp: a context, what has been fed to it, and its logits. Either an append happens
// whole or the sequence is as before. Used by llama_session.cpp; not safe for two threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/cancellation.h"
#include "backend/llama/llama_settings.h"

struct ggml_threadpool;
struct llama_context;
struct llama_model;

namespace owml {

class LlamaSequence {
 public:
  enum class Rows { kNone, kLast, kAll };

  // `label` names the model in messages. Throws E_OUTOFMEMORY, ERROR_NOT_SUPPORTED for a model that continues no text.
  LlamaSequence(std::shared_ptr<llama_model> model, const LlamaSettings& settings, std::string label);
  ~LlamaSequence();

  uint64_t capacity() const { return settings_.capacity; }
  uint64_t position() const { return tokens_.size(); }
  uint32_t vocabulary_size() const { return vocabulary_size_; }
  uint32_t batch_size() const;  // in effect

  // Tokens that can be taken back for sure; nothing = any number.
  std::optional<uint32_t> rollback_bound() const { return rollback_bound_; }

  // Appends and writes the wanted rows of vocabulary_size() floats to `logits`. E_INVALIDARG for no tokens or an id
  // outside the vocabulary, ERROR_INSUFFICIENT_BUFFER past the capacity.
  void Append(std::span<const int32_t> tokens, Rows rows, float* logits);

  // Appends look at it between the nodes of a graph; null = none. A cancelled one throws ERROR_CANCELLED.
  void Watch(std::shared_ptr<CancellationCheck> check);

  // Keeps the first `position` tokens (at most position()); false, and nothing changed, where the model cannot.
  bool TruncateTo(uint64_t position);

  void Clear();

  // Starts over with another capacity. On failure the old sequence is still there.
  void SetCapacity(uint64_t capacity);

 private:
  using Context = std::unique_ptr<llama_context, void (*)(llama_context*)>;
  using ThreadPool = std::unique_ptr<ggml_threadpool, void (*)(ggml_threadpool*)>;

  Context MakeContext(const LlamaSettings& settings);
  void Check(std::span<const int32_t> tokens) const;
  void Decode(std::span<const int32_t> tokens, uint64_t position, Rows rows, float* logits);
  void DecodeChunk(std::span<const int32_t> tokens, uint64_t position, bool all_rows, bool last_row);
  void RestoreAfterFailure() noexcept;
  void LookAtCheck(bool look);
  bool TruncateMemory(uint64_t position);

  std::shared_ptr<llama_model> model_;
  LlamaSettings settings_;
  std::string label_;
  uint32_t vocabulary_size_ = 0;
  std::optional<uint32_t> rollback_bound_;
  ThreadPool threads_;  // outlives the context that it is attached to
  Context context_;
  bool damaged_ = false;  // an assertion failed inside the context
  std::shared_ptr<CancellationCheck> check_;

  std::vector<int32_t> tokens_;  // the sequence itself, to rebuild it where llama.cpp cannot go back
  // Storage of one batch.
  std::vector<int32_t> positions_;
  std::vector<int32_t> sequence_counts_;
  std::vector<int32_t*> sequence_ids_;
  std::vector<int8_t> wants_logits_;
  int32_t sequence_zero_ = 0;
};

}  // namespace owml
