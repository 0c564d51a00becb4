// The forward pass of the Llama family over one sequence: tokens in, cache filled, logits of the wanted positions out.
// Driven by native_session.cpp; every buffer is there since construction.
//
// Shapes: n tokens of a batch, D width, H query heads and K key-value heads of d, F feed-forward width, V vocabulary.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

#include "backend/native/arena.h"
#include "backend/native/kv_cache.h"
#include "backend/native/llama_weights.h"
#include "backend/native/thread_pool.h"
#include "kernels/kernels.h"

namespace owml::native {

enum class LogitRows { kNone, kLast, kAll };

struct ForwardSettings {
  uint64_t capacity = 0;    // positions
  uint32_t batch_size = 0;  // most tokens that go through a layer together
  uint32_t threads = 0;
};

class LlamaForward {
 public:
  // Throws E_OUTOFMEMORY.
  LlamaForward(std::shared_ptr<const LlamaWeights> weights, const ForwardSettings& settings,
               const kernels::Kernels& kernels);

  // Computes the tokens at `position` and after it; cached positions from there on are overwritten. Tokens are in the
  // vocabulary and fit the capacity. `logits` takes V floats for each row. The same tokens give the same bits however
  // they are divided into calls and batches.
  void Run(std::span<const int32_t> tokens, uint64_t position, LogitRows rows, float* logits) noexcept;

  const LlamaWeights& weights() const { return *weights_; }
  uint32_t threads() const { return pool_.size(); }

 private:
  // The input of a matrix: floats, and their bytes where a quantized matrix reads them.
  struct Activations {
    float* f32 = nullptr;            // [n, width]
    kernels::Q8Block* q8 = nullptr;  // [n, width / 32]; null where nobody needs it
    size_t width = 0;
  };
  struct Product {
    const PackedMatrix* matrix;
    float* out;  // [n, rows]
    bool accumulate = false;
  };

  void Place(Arena& arena);
  Activations TakeActivations(Arena& arena, uint64_t width, bool may_quantize);

  void Embed(std::span<const int32_t> tokens);
  void ComputeAngles(uint64_t position, uint32_t n);
  void SelfAttention(uint32_t index, uint64_t position, uint32_t n);
  void FeedForward(uint32_t index, uint32_t n);
  void Head(uint32_t first, uint32_t n, float* logits);

  void Normalize(const float* x, const float* weight, uint32_t n, bool quantize);
  void Quantize(const Activations& x, uint32_t n);
  void Multiply(const Activations& x, uint32_t n, std::initializer_list<Product> products);
  void RotateAndStore(uint32_t layer, uint64_t position, uint32_t n);
  void Attend(uint32_t layer, uint64_t position, uint32_t n);
  void AttendOneToken(uint32_t layer, uint64_t position);
  void AttendHead(uint32_t layer, uint64_t position, uint32_t token, uint32_t kv_head, uint32_t thread);
  void GateUp(const LlamaWeights::Layer& layer, uint32_t n);

  // work(token) for all tokens, over the threads where there are several.
  template <class Work>
  void ForEachToken(uint32_t n, Work&& work);

  std::shared_ptr<const LlamaWeights> weights_;
  const LlamaParameters& p_;
  ForwardSettings settings_;
  const kernels::Kernels& kernels_;
  ThreadPool pool_;
  KvCache cache_;

  float* x_ = nullptr;         // [n, D], the residual stream
  Activations normed_;         // [n, D]
  float* queries_ = nullptr;   // [n, H d]
  float* keys_ = nullptr;      // [n, K d]
  float* values_ = nullptr;    // [n, K d]
  Activations attended_;       // [n, H d]
  Activations gated_;          // [n, F]
  float* cosines_ = nullptr;   // [n, rotated]
  float* sines_ = nullptr;     // [n, rotated]
  float* gate_up_ = nullptr;   // [threads, 2, n, 32]
  float* states_ = nullptr;    // [threads, 2, rows] of attention states
  float* segments_ = nullptr;  // [heads, segments] of attention states
  Arena arena_;
};

}  // namespace owml::native
