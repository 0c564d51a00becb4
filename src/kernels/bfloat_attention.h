// Products of attention with a cache in BF16: queries and weights are rounded to BF16 too, and summed in the pairs of
// bfloat_pairs.h, over neighbouring dimensions for the scores and neighbouring positions for the values.
// Driven by attention_kernel.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention_products.h"
#include "kernels/bfloat_pairs.h"
#include "kernels/inline.h"
#include "kernels/kernels.h"

namespace owml::kernels {

// For R rows that go through a block together; P multiplies pairs, a lane is a position or a dimension.
template <class V, class P, int R>
class BfloatAttention {
  using Reading = CacheReading<R, V::kAttentionWidth, !P::kPairsAtOnce>;

 public:
  static constexpr size_t kTogether = 2;
  static constexpr bool kSoftmaxBesideScores = P::kSoftmaxBesideScores && !Reading::kFewRows;

  OWML_INLINE BfloatAttention(const float* const* queries, size_t width)
      : rows_(queries), width_(width), reading_(width) {
    if (width <= kMostWidth) Round(0, width);
  }

  // As FloatAttention::Scores.
  OWML_INLINE void Scores(const AttentionBlock& block, size_t count, float (*scores)[kAttentionBlock]) {
    struct Nothing {};
    Scores<Nothing>(block, count, scores, nullptr);
  }
  // Takes a softmax meanwhile, or the most of it.
  template <class Softmax>
  OWML_INLINE void Scores(const AttentionBlock& block, size_t count, float (*scores)[kAttentionBlock],
                          Softmax* softmax) {
    constexpr int kWidth = Reading::kFewRows ? 1 : kSoftmaxBesideScores ? 2 : V::kAttentionWidth;
    const size_t vectors = (count + 15) / 16;
    for (size_t begin = 0; begin < width_; begin += kMostWidth) {
      const size_t end = begin + kMostWidth < width_ ? begin + kMostWidth : width_;
      if (width_ > kMostWidth) Round(begin, end);
      size_t p = 0;
      for (; p + kWidth <= vectors; p += kWidth) KeyScores<kWidth>(block, p, begin, end, scores, softmax);
      for (; p < vectors; ++p) KeyScores<1>(block, p, begin, end, scores, softmax);
    }
  }

  static OWML_INLINE typename V::F Weight(typename V::F below) { return Exp2ForBfloat<V>(below); }

  // As FloatAttention::TakeWeights, of the rounded weights, so that an error of all of them has no effect.
  OWML_INLINE typename V::F TakeWeights(int r, const typename V::F (&weights)[4]) {
    if constexpr (requires { P::RoundAtOnce(weights[0], weights[1], weights_[r]); }) {
      OWML_UNROLL for (int i = 0; i < 2; ++i) P::RoundAtOnce(weights[2 * i], weights[2 * i + 1], weights_[r] + 16 * i);
    } else {
      alignas(64) float exact[kAttentionBlock];
      OWML_UNROLL for (int i = 0; i < 4; ++i) V::Store(exact + 16 * i, weights[i]);
      RoundPairs<P>(exact, kAttentionBlock, weights_[r]);
    }
    return V::Add(PairSums<V>(weights_[r]), PairSums<V>(weights_[r] + 16));
  }

  // As FloatAttention::AddValues. Where `from` or `to` parts a pair N is 1.
  template <int N>
  OWML_INLINE void AddValues(const AttentionBlock& block, size_t from, size_t to, int r, float* states) const {
    if (from >= to) return;
    [[maybe_unused]] const typename P::DenormalsAreZero scope;
    size_t pair = from / 2;
    const size_t end = to / 2;
    if constexpr (N == 1) {
      if (from % 2 != 0) AddAll<1, kSecondOfPair>(block, pair, pair + 1, r, states), ++pair;
    }
    if (pair < end) AddAll<N, kBothOfPair>(block, pair, end, r, states);
    if constexpr (N == 1) {
      if (to % 2 != 0) AddAll<1, kFirstOfPair>(block, end, end + 1, r, states);
    }
  }

 private:
  // Dimensions whose queries are kept rounded.
  static constexpr size_t kMostWidth = 256;

  static constexpr int kParts = static_cast<int>(16 / P::kLanes);  // vectors for 16 lanes
  static constexpr size_t kVector = 64;                            // bytes of 16 pairs

  OWML_INLINE void Round(size_t begin, size_t end) {
    for (int r = 0; r < R; ++r) RoundPairs<P>(rows_[r] + begin, end - begin, queries_[r]);
  }

  // Of positions 16 p to before 16 (p + S), over dimensions `begin` to before `end`.
  template <int S, class Softmax>
  OWML_INLINE void KeyScores(const AttentionBlock& block, size_t p, size_t begin, size_t end,
                             float (*scores)[kAttentionBlock], Softmax* softmax) const {
    [[maybe_unused]] const typename P::DenormalsAreZero scope;
    constexpr int kVectors = S * kParts;
    const size_t group = 16 * KeyBytes(CacheType::kBF16, width_), pairs = (end - begin + 1) / 2;
    const auto* keys = reinterpret_cast<const uint8_t*>(block.keys) + p * group + begin * 32;
    typename P::F sum[kVectors][R];
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      OWML_UNROLL for (int i = 0; i < kVectors; ++i) {
        sum[i][r] = begin == 0 ? P::Set(0.0f) : P::Load(scores[r] + 16 * p + P::kLanes * i);
      }
    }
    size_t pair = 0;
    const auto step = [&]() OWML_INLINE_LAMBDA {
      const uint8_t* k[kVectors];
      OWML_UNROLL for (int i = 0; i < kVectors; ++i) {
        k[i] = keys + i / kParts * group + pair * kVector + i % kParts * (4 * P::kLanes);
      }
      reading_.template Fetch<kVector * S>(block.values, (p * (width_ / 2) + (begin / 2 + pair) * S) * kVector);
      AddPairs<P>(k, queries_, pair, sum);
      ++pair;
    };
    if constexpr (kSoftmaxBesideScores) {
      // The rows whose turn it is: as large a share as that of these positions in the block.
      const int rows = static_cast<int>(R * (p + S) / (kAttentionBlock / 16));
      if (static_cast<size_t>(softmax->VectorsBefore(rows)) <= pairs) softmax->Take(rows, step);
    }
    while (pair < pairs) step();
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      OWML_UNROLL for (int i = 0; i < kVectors; ++i) P::Store(scores[r] + 16 * p + P::kLanes * i, sum[i][r]);
    }
  }

  template <int N, int32_t Mask>
  OWML_INLINE void AddAll(const AttentionBlock& block, size_t from, size_t to, int r, float* states) const {
    constexpr int kWidth = V::kAttentionWidth;
    const size_t end = PaddedWidth(width_);
    size_t d = 0;
    for (; d + 16 * kWidth <= end; d += 16 * kWidth) AddPairsAt<N, kWidth, Mask>(block, from, to, r, states, d);
    for (; d < end; d += 16) AddPairsAt<N, 1, Mask>(block, from, to, r, states, d);
  }

  // Of pairs `from` to before `to`, dimensions d to before d + 16 D.
  template <int N, int D, int32_t Mask>
  OWML_INLINE void AddPairsAt(const AttentionBlock& block, size_t from, size_t to, int row, float* states,
                              size_t d) const {
    constexpr int kVectors = D * kParts;
    const size_t state_size = AttentionStateSize(width_), row_bytes = 2 * ValueBytes(CacheType::kBF16, width_);
    const auto* values = reinterpret_cast<const uint8_t*>(block.values) + d * 4;
    typename P::F sum[kVectors][N];
    OWML_UNROLL for (int r = 0; r < N; ++r) {
      OWML_UNROLL for (int i = 0; i < kVectors; ++i) sum[i][r] = P::Load(states + r * state_size + d + P::kLanes * i);
    }
    for (size_t pair = from; pair < to; ++pair) {
      const uint8_t* v[kVectors];
      OWML_UNROLL for (int i = 0; i < kVectors; ++i) v[i] = values + pair * row_bytes + i * (4 * P::kLanes);
      reading_.template Fetch<kVector * D>(block.NextKeys(), (d / 16 * (kAttentionBlock / 2) + pair * D) * kVector);
      AddPairs<P, Mask>(v, weights_ + row, pair, sum);
    }
    OWML_UNROLL for (int r = 0; r < N; ++r) {
      OWML_UNROLL for (int i = 0; i < kVectors; ++i) P::Store(states + r * state_size + d + P::kLanes * i, sum[i][r]);
    }
  }

  const float* const* rows_;
  size_t width_;
  Reading reading_;
  alignas(64) typename P::Pair queries_[R][kMostWidth / 2];
  alignas(64) typename P::Pair weights_[R][kAttentionBlock / 2];
};

}  // namespace owml::kernels
