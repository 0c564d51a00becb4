// Products of attention with keys and values taken as floats: of caches in F16 and in 8 bits.
// Driven by attention_kernel.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cache_kernel.h"
#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/vector_math.h"

namespace owml::kernels {

// Keys and values of a block of positions.
struct AttentionBlock {
  const std::byte* keys;    // of the block's first position
  const std::byte* values;  // of the same
  CacheType type;
  size_t width;

  OWML_INLINE const std::byte* NextKeys() const { return keys + kAttentionBlock * KeyBytes(type, width); }
};

// How R rows read a cache, of which W vectors of positions or dimensions are taken at once. With few rows reading is
// the limit: keys are read in the order of memory, one vector after the other. That is enough for the processor to
// fetch them by itself, and values whose rows fit W vectors too, unless it is Busy with multiplying; else the values of
// a block are fetched while its scores are computed, and the next block's keys while values are added.
template <int R, int W, bool Busy>
class CacheReading {
 public:
  static constexpr bool kFewRows = R <= 4;

  explicit OWML_INLINE CacheReading(size_t width) : fetches_(Busy || PaddedWidth(width) > 16 * W) {}

  // Of what lies behind `from`: the Bytes at `at`, for a step that reads so many.
  template <size_t Bytes>
  OWML_INLINE void Fetch(const std::byte* from, size_t at) const {
    if (!kFewRows || !fetches_) return;
    for (size_t i = 0; i < Bytes; i += kLine) {
      if (Bytes >= kLine || at % kLine < Bytes) __builtin_prefetch(from + at + i, 0, 2);
    }
  }

 private:
  static constexpr size_t kLine = 64;
  bool fetches_;
};

// For R rows that go through a block together.
template <class V, CacheType Type, int R>
class FloatAttention {
 public:
  // Neighbouring positions whose values are added in one step.
  static constexpr size_t kTogether = 1;
  // Whether the softmax of a block is taken between the products of the next block's scores.
  static constexpr bool kSoftmaxBesideScores = false;

  OWML_INLINE FloatAttention(const float* const* queries, size_t width)
      : queries_(queries), width_(width), reading_(width) {}

  // scores[r] = query r times the keys of `count` positions, rounded up to 16.
  OWML_INLINE void Scores(const AttentionBlock& block, size_t count, float (*scores)[kAttentionBlock]) const {
    constexpr int kWidth = Reading::kFewRows ? 1 : V::kAttentionWidth;
    const size_t vectors = (count + 15) / 16;
    size_t p = 0;
    for (; p + kWidth <= vectors; p += kWidth) KeyScores<kWidth>(block, p, scores);
    for (; p < vectors; ++p) KeyScores<1>(block, p, scores);
  }

  // Of a score less the one that weights are relative to.
  static OWML_INLINE typename V::F Weight(typename V::F below) { return Exp2<V>(below); }

  // Keeps row r's weights of the block whose values are added next. Returns their sums in 16 lanes.
  OWML_INLINE typename V::F TakeWeights(int r, const typename V::F (&weights)[4]) {
    OWML_UNROLL for (int i = 0; i < 4; ++i) V::Store(weights_[r] + 16 * i, weights[i]);
    return V::Add(V::Add(weights[0], weights[1]), V::Add(weights[2], weights[3]));
  }

  // states of N rows from row r on += weights times values of positions `from` to before `to`.
  template <int N>
  OWML_INLINE void AddValues(const AttentionBlock& block, size_t from, size_t to, int r, float* states) const {
    constexpr int kWidth = V::kAttentionWidth;
    if (from >= to) return;
    const size_t end = PaddedWidth(width_);
    size_t d = 0;
    for (; d + 16 * kWidth <= end; d += 16 * kWidth) AddValuesAt<N, kWidth>(block, from, to, r, states, d);
    for (; d < end; d += 16) AddValuesAt<N, 1>(block, from, to, r, states, d);
  }

 private:
  static constexpr size_t kVector = KeyBytes(Type, 16);  // bytes of 16 numbers

  using Reading = CacheReading<R, V::kAttentionWidth, (R > 1)>;

  // Of positions 16 p to before 16 (p + P).
  template <int P>
  OWML_INLINE void KeyScores(const AttentionBlock& block, size_t p, float (*scores)[kAttentionBlock]) const {
    typename V::F sum[R][P];
    OWML_UNROLL for (int r = 0; r < R; ++r) { OWML_UNROLL for (int i = 0; i < P; ++i) sum[r][i] = V::Set(0.0f); }
    const std::byte* keys = block.keys + p * 16 * KeyBytes(Type, width_);
    for (size_t d = 0; d < width_; ++d) {
      typename V::F k[P];
      OWML_UNROLL for (int i = 0; i < P; ++i) {
        k[i] = Cache<V, Type>::Keys(keys + static_cast<size_t>(i) * 16 * KeyBytes(Type, width_), d);
      }
      reading_.template Fetch<kVector * P>(block.values, (p * width_ + d * P) * kVector);
      OWML_UNROLL for (int r = 0; r < R; ++r) {
        const typename V::F q = V::Set(queries_[r][d]);
        OWML_UNROLL for (int i = 0; i < P; ++i) sum[r][i] = V::Fma(k[i], q, sum[r][i]);
      }
    }
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      OWML_UNROLL for (int i = 0; i < P; ++i) V::Store(scores[r] + 16 * (p + i), sum[r][i]);
    }
  }

  // Of dimensions d to before d + 16 D.
  template <int N, int D>
  OWML_INLINE void AddValuesAt(const AttentionBlock& block, size_t from, size_t to, int row, float* states,
                               size_t d) const {
    const size_t state_size = AttentionStateSize(width_);
    typename V::F sum[N][D];
    OWML_UNROLL for (int r = 0; r < N; ++r) {
      OWML_UNROLL for (int i = 0; i < D; ++i) sum[r][i] = V::Load(states + r * state_size + d + 16 * i);
    }
    for (size_t position = from; position < to; ++position) {
      typename V::F v[D];
      OWML_UNROLL for (int i = 0; i < D; ++i) {
        v[i] = Cache<V, Type>::Values(block.values + position * ValueBytes(Type, width_), width_, d + 16 * i);
      }
      reading_.template Fetch<kVector * D>(block.NextKeys(), (d / 16 * kAttentionBlock + position * D) * kVector);
      OWML_UNROLL for (int r = 0; r < N; ++r) {
        const typename V::F weight = V::Set(weights_[row + r][position]);
        OWML_UNROLL for (int i = 0; i < D; ++i) sum[r][i] = V::Fma(weight, v[i], sum[r][i]);
      }
    }
    OWML_UNROLL for (int r = 0; r < N; ++r) {
      OWML_UNROLL for (int i = 0; i < D; ++i) V::Store(states + r * state_size + d + 16 * i, sum[r][i]);
    }
  }

  const float* const* queries_;
  alignas(64) float weights_[R][kAttentionBlock];
  size_t width_;
  Reading reading_;
};

}  // namespace owml::kernels
