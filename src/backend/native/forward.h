// The forward pass of a decoder over one sequence: tokens in, cache filled, logits of the wanted positions out.
// Driven by native_session.cpp; every buffer is there since construction.
//
// Shapes: n tokens of a batch, D width, H query heads and K key-value heads of d, F feed-forward width, V vocabulary.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "backend/cancellation.h"
#include "backend/native/arena.h"
#include "backend/native/kv_cache.h"
#include "backend/native/model_weights.h"
#include "backend/native/thread_pool.h"
#include "kernels/kernels.h"

namespace owml::native {

enum class LogitRows { kNone, kLast, kAll };

struct ForwardSettings {
  uint64_t capacity = 0;    // positions
  uint32_t batch_size = 0;  // most tokens that go through a layer together
  uint32_t threads = 0;
  kernels::CacheType cache_type = kernels::CacheType::kF16;
};

class Forward {
 public:
  // Throws E_OUTOFMEMORY.
  Forward(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
          const kernels::Kernels& kernels);

  // Computes the tokens at `position` and after it; cached positions from there on are overwritten. Tokens are in the
  // vocabulary and fit the capacity. `logits` takes V floats for each row. The same tokens give the same bits however
  // they are divided into calls and batches. False when `check`, which is looked at before each layer and may be null,
  // ended it; cached positions from `position` on mean nothing then.
  bool Run(std::span<const int32_t> tokens, uint64_t position, LogitRows rows, float* logits,
           CancellationCheck* check = nullptr) noexcept;

  const ModelWeights& weights() const { return *weights_; }
  uint32_t threads() const { return pool_.size(); }

 private:
  // The input of a matrix: floats, and their bytes where a quantized matrix reads them.
  struct Activations {
    float* f32 = nullptr;            // [n, width]
    kernels::Q8Block* q8 = nullptr;  // [n, width / 32]; null where nobody needs it
    size_t width = 0;

    float* f32_of(uint32_t token) const { return f32 + size_t{token} * width; }
    kernels::Q8Block* q8_of(uint32_t token) const {
      return q8 ? q8 + size_t{token} * (width / kernels::kBlock) : nullptr;
    }
  };
  struct Product {
    const PackedMatrix* matrix;
    float* out;  // [tokens, rows], of the first token that is computed
    bool accumulate = false;
  };
  // Tokens of a batch that a step computes: from `first` to before `end`.
  struct Tokens {
    uint32_t first = 0;
    uint32_t end = 0;
    uint32_t count() const { return end - first; }
  };
  // Sines and cosines of a batch's positions, for the layers that share a rope.
  struct Angles {
    std::vector<double> steps;  // of each pair for one position
    float magnitude = 1;
    float* cosines = nullptr;  // [n, rotated]
    float* sines = nullptr;    // [n, rotated]
  };

  void Place(Arena& arena);
  Activations TakeActivations(Arena& arena, uint64_t width);

  void Embed(std::span<const int32_t> tokens);
  void ComputeAngles(Angles& angles, uint64_t position, uint32_t n);
  void SelfAttention(uint32_t index, uint64_t position, uint32_t n, Tokens wanted);
  void FeedForward(uint32_t index, Tokens tokens);
  void Head(Tokens tokens, float* logits);

  void Normalize(const float* weight, Tokens tokens, bool quantize);
  void Quantize(const Activations& x, Tokens tokens);
  void Multiply(const Activations& x, Tokens tokens, std::initializer_list<Product> products);
  void AddBranch(const Activations& x, const PackedMatrix& matrix, const float* bias, const float* post_norm,
                 Tokens tokens);
  void RotateQueries(uint32_t layer, Tokens tokens);
  void RotateAndStoreKeys(uint32_t layer, uint64_t position, Tokens tokens);
  void Rotate(float* head, const Angles& angles, uint32_t token) const;
  void GateUp(const ModelWeights::Layer& layer, Tokens tokens);

  // In forward_attention.cpp.
  void Attend(uint32_t layer, uint64_t position, Tokens tokens);
  void AttendOneToken(uint32_t layer, uint64_t position, uint32_t token);
  void AttendTile(uint32_t layer, uint64_t position, Tokens tile, uint32_t kv_head, uint32_t thread);
  kernels::AttendCall CallFor(uint32_t layer, uint32_t kv_head) const;
  void AddRow(kernels::AttendCall* call, uint32_t layer, uint64_t position, uint32_t token, uint32_t head,
              uint64_t segment) const;
  uint64_t FirstSeen(uint32_t layer, uint64_t length) const;

  // work(token) for all of them, over the threads where there are several.
  template <class Work>
  void ForEachToken(Tokens tokens, Work&& work) {
    constexpr uint32_t kTokensAtOnce = 8;
    pool_.Run((tokens.count() + kTokensAtOnce - 1) / kTokensAtOnce, [&](uint32_t piece, uint32_t) noexcept {
      const uint32_t begin = tokens.first + piece * kTokensAtOnce;
      for (uint32_t token = begin; token < tokens.end && token < begin + kTokensAtOnce; ++token) work(token);
    });
  }

  std::shared_ptr<const ModelWeights> weights_;
  const ModelPlan& p_;
  ForwardSettings settings_;
  const kernels::Kernels& kernels_;
  ThreadPool pool_;
  KvCache cache_;

  float* x_ = nullptr;        // [n, D], the residual stream
  Activations normed_;        // [n, D]
  float* queries_ = nullptr;  // [n, H d]
  float* keys_ = nullptr;     // [n, K d]
  float* values_ = nullptr;   // [n, K d]
  Activations attended_;      // [n, H d]
  Activations gated_;         // [n, F]
  float* branch_ = nullptr;   // [n, D], what a step adds to the stream
  std::vector<Angles> angles_;
  float* gate_up_ = nullptr;   // [threads, 2, n, 32]
  float* states_ = nullptr;    // [threads, 2, rows] of attention states
  float* segments_ = nullptr;  // [heads, segments] of attention states
  Arena arena_;
};

}  // namespace owml::native
