// The forward pass of a decoder over sequences side by side: tokens in, cache filled, logits of the wanted positions
// out. Driven by sequences.cpp; every buffer is there since construction.
//
// Shapes: n rows of a batch, one for each token, D width, H query heads and K key-value heads of d, F feed-forward
// width, V vocabulary.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "backend/best_tokens.h"
#include "backend/cancellation.h"
#include "backend/native/arena.h"
#include "backend/native/kv_cache.h"
#include "backend/native/model_weights.h"
#include "backend/native/thread_pool.h"
#include "kernels/kernels.h"

namespace owml::native {

enum class LogitRows { kNone, kLast, kAll };

// What goes through the model for the sequence of a slot.
struct SequenceTokens {
  uint32_t slot = 0;
  uint64_t position = 0;  // of the first token; cached positions from there on are overwritten
  std::span<const int32_t> tokens;
  LogitRows rows = LogitRows::kNone;
  bool best = false;  // the highest logits of these rows instead of all
};

// Where what was asked for goes, in the order of the tokens.
struct StepResults {
  std::span<float> logits = {};     // [rows, V]
  std::span<TokenLogit> best = {};  // [rows, best_count], each list sorted as BestTokens says
  uint32_t best_count = 0;
};

struct ForwardSettings {
  uint64_t capacity = 0;    // positions of a sequence
  uint32_t batch_size = 0;  // most tokens that go through a layer together
  uint32_t threads = 0;
  kernels::CacheType cache_type = kernels::CacheType::kF16;
  uint32_t slots = 1;      // sequences
  uint32_t take_back = 0;  // tokens that a sequence can surely take back; a batch where that is more
  uint32_t best = 1;       // most of the highest logits that are asked for
};

class Forward {
 public:
  // Throws E_OUTOFMEMORY.
  Forward(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
          const kernels::Kernels& kernels);

  // Computes the tokens of all sequences together. Slots, tokens, positions and results are in range. A sequence gets
  // the same bits however its tokens are divided into calls and batches, in any slot and company. False when `check`,
  // which is looked at before each layer and may be null, ended it; cached positions that were to be written mean
  // nothing then.
  bool Run(std::span<const SequenceTokens> sequences, const StepResults& results,
           CancellationCheck* check = nullptr) noexcept;

  uint32_t threads() const { return pool_.size(); }
  const KvCache& cache() const { return cache_; }

 private:
  // A token of a batch.
  struct Row {
    int32_t token;
    uint32_t slot;
    uint64_t position;
    float* logits;     // where they are asked for
    TokenLogit* best;  // where only these are
    bool is_read() const { return logits || best; }
  };
  // Rows from `first` to before `end`: neighbours in one sequence whose heads go through attention together.
  struct Tile {
    uint32_t first;
    uint32_t end;
    uint32_t count() const { return end - first; }
  };
  // The input of a matrix: floats, and their bytes where a quantized matrix reads them.
  struct Activations {
    float* f32 = nullptr;            // [n, width]
    kernels::Q8Block* q8 = nullptr;  // [n, width / 32]; null where nobody needs it
    size_t width = 0;

    float* f32_of(uint32_t row) const { return f32 + size_t{row} * width; }
    kernels::Q8Block* q8_of(uint32_t row) const { return q8 ? q8 + size_t{row} * (width / kernels::kBlock) : nullptr; }
  };
  struct Product {
    const PackedMatrix* matrix;
    float* out;  // [n, rows of the matrix]
    bool accumulate = false;
  };
  // Sines and cosines of a batch's positions, for the layers that share a rope.
  struct Angles {
    std::vector<double> steps;  // of each pair for one position
    float magnitude = 1;
    float* cosines = nullptr;  // [n, rotated]
    float* sines = nullptr;    // [n, rotated]
  };

  // Rows of a matrix that one piece of work computes: two panels, and one block of the next matrix's input.
  static constexpr size_t kUnitRows = 2 * kernels::kPanelRows;
  static_assert(kUnitRows == kernels::kBlock);
  static constexpr size_t Units(size_t rows) { return (rows + kUnitRows - 1) / kUnitRows; }
  // A few for each thread, so that one slow thread holds nobody up for long.
  uint32_t PiecesOf(size_t units) const {
    constexpr size_t kPiecesPerThread = 6;
    return static_cast<uint32_t>(std::min<size_t>(units, pool_.size() * kPiecesPerThread));
  }

  KvCacheShape CacheShape() const;
  void Place(Arena& arena);
  Activations TakeActivations(Arena& arena, uint64_t width);

  bool RunBatch(uint32_t n, uint32_t read, CancellationCheck* check);
  void Embed(uint32_t n);
  void ComputeAngles(Angles& angles, uint32_t n);
  void SelfAttention(uint32_t index, uint32_t n, uint32_t wanted);
  void FeedForward(uint32_t index, uint32_t n);
  void Head(uint32_t n);  // in forward_head.cpp

  void KeepReadRows(uint32_t n);
  void Normalize(const float* weight, uint32_t n, bool quantize);
  void Quantize(const Activations& x, uint32_t n);
  void Multiply(const Activations& x, uint32_t n, std::initializer_list<Product> products);
  void MultiplyUnit(const PackedMatrix& matrix, const float* bias, uint32_t n, size_t row, size_t rows, float* out);
  void AddBranch(const Activations& x, const PackedMatrix& matrix, const float* bias, const float* post_norm,
                 uint32_t n);
  void RotateQueries(uint32_t layer, uint32_t n);
  void RotateAndStoreKeys(uint32_t layer, uint32_t n);
  void Rotate(float* head, const Angles& angles, uint32_t row) const;
  void GateUp(const ModelWeights::Layer& layer, uint32_t n);

  // In forward_attention.cpp.
  // Single rows whose segments are divided among the threads; more rows keep them busy by themselves.
  uint32_t MostSplitRows() const { return std::min(settings_.slots, pool_.size()); }
  void FindTiles(uint32_t n);
  void Attend(uint32_t layer, uint32_t n);
  void AttendBySegments(uint32_t layer, uint32_t n);
  void AttendTile(uint32_t layer, Tile tile, uint32_t kv_head, uint32_t thread);
  kernels::AttendCall CallFor(uint32_t layer, uint32_t slot, uint32_t kv_head, uint64_t segment) const;
  void AddHead(kernels::AttendCall* call, uint32_t layer, uint32_t row, uint32_t head, uint64_t segment) const;
  uint64_t FirstSeen(uint32_t layer, uint32_t row) const;
  uint64_t FirstSegment(uint32_t layer, uint32_t row) const;
  uint64_t EndSegment(uint32_t row) const;

  // work(row) for all of them, over the threads where there are several.
  template <class Work>
  void ForEachRow(uint32_t n, Work&& work) {
    constexpr uint32_t kRowsAtOnce = 8;
    pool_.Run((n + kRowsAtOnce - 1) / kRowsAtOnce, [&](uint32_t piece, uint32_t) noexcept {
      const uint32_t begin = piece * kRowsAtOnce;
      for (uint32_t row = begin; row < n && row < begin + kRowsAtOnce; ++row) work(row);
    });
  }

  std::span<TokenLogit> BestOf(uint32_t thread, uint32_t row) const {
    return {best_ + (size_t{thread} * settings_.batch_size + row) * settings_.best, best_count_};
  }

  std::shared_ptr<const ModelWeights> weights_;
  const ModelPlan& p_;
  ForwardSettings settings_;
  const kernels::Kernels& kernels_;
  ThreadPool pool_;
  KvCache cache_;

  Row* rows_ = nullptr;    // [n]
  Tile* tiles_ = nullptr;  // [n]
  uint32_t tile_count_ = 0;
  float* x_ = nullptr;        // [n, D], the residual stream
  Activations normed_;        // [n, D]
  float* queries_ = nullptr;  // [n, H d]
  float* keys_ = nullptr;     // [n, K d]
  float* values_ = nullptr;   // [n, K d]
  Activations attended_;      // [n, H d]
  Activations gated_;         // [n, F]
  float* branch_ = nullptr;   // [n, D], what a step adds to the stream
  std::vector<Angles> angles_;
  float* gate_up_ = nullptr;    // [threads, 2, n, 32], of the head too
  float* states_ = nullptr;     // [threads, 2, rows] of attention states
  float* segments_ = nullptr;   // [split rows, segments, H] of attention states
  TokenLogit* best_ = nullptr;  // [threads, n, most that are asked for]
  uint32_t best_count_ = 0;     // of this run
  Arena arena_;
};

}  // namespace owml::native
