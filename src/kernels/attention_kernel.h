// Attention of query rows that share a KV head, with the softmax computed on the way: a lane is a position for the
// scores and a dimension for the values. Blocks lie at absolute positions and rows never meet, so the result of a row
// depends on its own range only.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cache_kernel.h"
#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/vector_math.h"

namespace owml::kernels {

// Stands for minus infinity, without its NaNs.
inline constexpr float kLowestScore = -1e30f;

// Keys and values of a block of positions.
template <class V, CacheType Type>
struct Block {
  const std::byte* keys;    // of the block's first position
  const std::byte* values;  // of the same
  size_t width;

  // With few rows reading is the limit: values are fetched while scores are computed, the next block's keys while
  // values are added, each in as many steps as a block has vectors of positions times dimensions, or positions times
  // vectors of dimensions.
  template <int R>
  OWML_INLINE void FetchValues(size_t step) const {
    if constexpr (R <= 4) Fetch(values + step * (KeyBytes(Type, 16)));
  }
  template <int R>
  OWML_INLINE void FetchNextKeys(size_t step) const {
    if constexpr (R <= 4) Fetch(keys + kAttentionBlock * KeyBytes(Type, width) + step * KeyBytes(Type, 16));
  }
  static OWML_INLINE void Fetch(const std::byte* at) { __builtin_prefetch(at, 0, 3); }

  // Positions 16 p to 16 p + 15 at dimension d.
  OWML_INLINE typename V::F Keys(size_t p, size_t d) const {
    return Cache<V, Type>::Keys(keys + p * 16 * KeyBytes(Type, width), d);
  }
  // Dimensions d to d + 15 of a position.
  OWML_INLINE typename V::F Values(size_t position, size_t d) const {
    return Cache<V, Type>::Values(values + position * ValueBytes(Type, width), width, d);
  }
};

// scores[r][16p..16(p+P)) = query r times keys.
template <class V, CacheType Type, int R, int P>
OWML_INLINE void KeyScores(const float* const* queries, const Block<V, Type>& block, size_t p,
                           float (*scores)[kAttentionBlock]) {
  typename V::F sum[R][P];
  OWML_UNROLL for (int r = 0; r < R; ++r) { OWML_UNROLL for (int i = 0; i < P; ++i) sum[r][i] = V::Set(0.0f); }
  for (size_t d = 0; d < block.width; ++d) {
    typename V::F k[P];
    OWML_UNROLL for (int i = 0; i < P; ++i) {
      k[i] = block.Keys(p + i, d);
      block.template FetchValues<R>(p * block.width + d * P + static_cast<size_t>(i));
    }
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      const typename V::F q = V::Set(queries[r][d]);
      OWML_UNROLL for (int i = 0; i < P; ++i) sum[r][i] = V::Fma(k[i], q, sum[r][i]);
    }
  }
  OWML_UNROLL for (int r = 0; r < R; ++r) {
    OWML_UNROLL for (int i = 0; i < P; ++i) V::Store(scores[r] + 16 * (p + i), sum[r][i]);
  }
}

// The same for `count` positions, rounded up to 16.
template <class V, CacheType Type, int R>
OWML_INLINE void BlockScores(const float* const* queries, const Block<V, Type>& block, size_t count,
                             float (*scores)[kAttentionBlock]) {
  constexpr int kWidth = V::kAttentionWidth;
  const size_t vectors = (count + 15) / 16;
  size_t p = 0;
  for (; p + kWidth <= vectors; p += kWidth) KeyScores<V, Type, R, kWidth>(queries, block, p, scores);
  for (; p < vectors; ++p) KeyScores<V, Type, R, 1>(queries, block, p, scores);
}

// state[dimensions d to d+16D) of R rows += weights times values of positions `from` to `to` of a block.
template <class V, CacheType Type, int R, int D>
OWML_INLINE void AddValuesAt(const Block<V, Type>& block, size_t from, size_t to,
                             const float (*weights)[kAttentionBlock], float* states, size_t state_size, size_t d) {
  typename V::F sum[R][D];
  OWML_UNROLL for (int r = 0; r < R; ++r) {
    OWML_UNROLL for (int i = 0; i < D; ++i) sum[r][i] = V::Load(states + r * state_size + d + 16 * i);
  }
  for (size_t position = from; position < to; ++position) {
    typename V::F v[D];
    OWML_UNROLL for (int i = 0; i < D; ++i) {
      v[i] = block.Values(position, d + 16 * i);
      block.template FetchNextKeys<R>(d / 16 * kAttentionBlock + position * D + static_cast<size_t>(i));
    }
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      const typename V::F weight = V::Set(weights[r][position]);
      OWML_UNROLL for (int i = 0; i < D; ++i) sum[r][i] = V::Fma(weight, v[i], sum[r][i]);
    }
  }
  OWML_UNROLL for (int r = 0; r < R; ++r) {
    OWML_UNROLL for (int i = 0; i < D; ++i) V::Store(states + r * state_size + d + 16 * i, sum[r][i]);
  }
}

template <class V, CacheType Type, int R>
OWML_INLINE void AddValues(const Block<V, Type>& block, size_t from, size_t to, const float (*weights)[kAttentionBlock],
                           float* states) {
  constexpr int kWidth = V::kAttentionWidth;
  if (from >= to) return;
  const size_t state_size = AttentionStateSize(block.width), end = PaddedWidth(block.width);
  size_t d = 0;
  for (; d + 16 * kWidth <= end; d += 16 * kWidth) {
    AddValuesAt<V, Type, R, kWidth>(block, from, to, weights, states, state_size, d);
  }
  for (; d < end; d += 16) AddValuesAt<V, Type, R, 1>(block, from, to, weights, states, state_size, d);
}

// Turns the scores of one row into weights relative to its maximum so far, and brings the state up to that maximum.
// Only positions `skip` to `count` of the block are seen.
template <class V>
OWML_INLINE void SoftmaxStep(float* scores, size_t skip, size_t count, float cap, float* state, size_t padded) {
  if (cap != 0.0f) {
    OWML_UNROLL for (int i = 0; i < 4; ++i) {
      V::Store(scores + 16 * i, SoftCap<V>(V::Load(scores + 16 * i), V::Set(cap)));
    }
  }
  for (size_t i = 0; i < skip; ++i) scores[i] = kLowestScore;
  for (size_t i = count; i < kAttentionBlock; ++i) scores[i] = kLowestScore;
  typename V::F score[4], highest = V::Set(state[padded]);
  OWML_UNROLL for (int i = 0; i < 4; ++i) {
    score[i] = V::Load(scores + 16 * i);
    highest = V::Max(highest, score[i]);
  }
  const float maximum = V::MaxLaneFloat(highest);
  typename V::F sum = V::Load(state + padded + 16);
  if (maximum != state[padded]) {
    const typename V::F correction = ExpBelowZero<V>(V::Set(state[padded] - maximum));
    state[padded] = maximum;
    sum = V::Mul(sum, correction);
    for (size_t d = 0; d < padded; d += 16) V::Store(state + d, V::Mul(V::Load(state + d), correction));
  }
  OWML_UNROLL for (int i = 0; i < 4; ++i) V::Store(scores + 16 * i, ExpBelowZero<V>(V::Sub(score[i], V::Set(maximum))));
  for (size_t i = 0; i < skip; ++i) scores[i] = 0.0f;
  for (size_t i = count; i < kAttentionBlock; ++i) scores[i] = 0.0f;
  OWML_UNROLL for (int i = 0; i < 4; ++i) sum = V::Add(sum, V::Load(scores + 16 * i));
  V::Store(state + padded + 16, sum);
}

// Positions of a block that a row sees.
struct SeenPositions {
  size_t from;
  size_t to;
};

// What a row sees of a block.
OWML_INLINE SeenPositions SeenOf(const AttendCall& call, size_t row, size_t block, size_t count) {
  const size_t first = call.firsts[row], last = call.ends[row];
  return {first > block ? first - block : 0, last - block < count ? last - block : count};
}

// What all rows see is added for all at once, the rest row by row in the order of positions.
template <class V, CacheType Type, int R>
OWML_INLINE void AddBlock(const Block<V, Type>& block, const SeenPositions (&seen)[R],
                          const float (*weights)[kAttentionBlock], float* states) {
  const size_t state_size = AttentionStateSize(block.width);
  size_t from = 0, to = kAttentionBlock;
  for (int r = 0; r < R; ++r) {
    if (seen[r].from > from) from = seen[r].from;
    if (seen[r].to < to) to = seen[r].to;
  }
  if (to < from) to = from;
  for (int r = 0; r < R && R > 1; ++r) {
    const size_t stop = seen[r].to < from ? seen[r].to : from;
    AddValues<V, Type, 1>(block, seen[r].from, stop, weights + r, states + r * state_size);
  }
  AddValues<V, Type, R>(block, from, to, weights, states);
  for (int r = 0; r < R && R > 1; ++r) {
    AddValues<V, Type, 1>(block, to, seen[r].to, weights + r, states + r * state_size);
  }
}

template <class V>
OWML_INLINE void StartState(float* state, size_t padded) {
  for (size_t d = 0; d < padded; d += 16) V::Store(state + d, V::Set(0.0f));
  V::Store(state + padded, V::Set(kLowestScore));
  V::Store(state + padded + 16, V::Set(0.0f));
}

template <class V, CacheType Type, int R>
void AttendRows(const AttendCall& call, size_t row) {
  const size_t padded = PaddedWidth(call.width), state_size = AttentionStateSize(call.width);
  float* states = call.states + row * state_size;
  size_t end = 0;
  for (int r = 0; r < R; ++r) {
    StartState<V>(states + r * state_size, padded);
    if (call.ends[row + r] > end) end = call.ends[row + r];
  }
  alignas(64) float scores[R][kAttentionBlock] = {};
  for (size_t at = call.begin; at < end; at += kAttentionBlock) {
    const size_t count = end - at < kAttentionBlock ? end - at : kAttentionBlock;
    const Block<V, Type> block{call.keys + at * KeyBytes(Type, call.width),
                               call.values + at * ValueBytes(Type, call.width), call.width};
    BlockScores<V, Type, R>(call.queries + row, block, count, scores);
    SeenPositions seen[R];
    for (int r = 0; r < R; ++r) {
      seen[r] = SeenOf(call, row + r, at, count);
      SoftmaxStep<V>(scores[r], seen[r].from, seen[r].to, call.cap, states + r * state_size, padded);
    }
    AddBlock<V, Type, R>(block, seen, scores, states);
  }
}

// Groups of at most six rows, which the registers hold, that differ by no more than one.
template <class V, CacheType Type>
void Attend(const AttendCall& call) {
  constexpr size_t kMost = 6;
  const size_t groups = (call.rows + kMost - 1) / kMost;
  for (size_t group = 0, row = 0; group < groups; ++group) {
    const size_t count = (call.rows + group) / groups;
    if (count == 1) AttendRows<V, Type, 1>(call, row);
    if (count == 2) AttendRows<V, Type, 2>(call, row);
    if (count == 3) AttendRows<V, Type, 3>(call, row);
    if (count == 4) AttendRows<V, Type, 4>(call, row);
    if (count == 5) AttendRows<V, Type, 5>(call, row);
    if (count == 6) AttendRows<V, Type, 6>(call, row);
    row += count;
  }
}

template <class V>
void MergeAttention(float* total, const float* part, size_t width) {
  const size_t padded = PaddedWidth(width);
  const float maximum = total[padded] > part[padded] ? total[padded] : part[padded];
  const typename V::F keep = ExpBelowZero<V>(V::Set(total[padded] - maximum));
  const typename V::F take = ExpBelowZero<V>(V::Set(part[padded] - maximum));
  const auto merge = [&](size_t at) {
    V::Store(total + at, V::Fma(V::Load(part + at), take, V::Mul(V::Load(total + at), keep)));
  };
  for (size_t d = 0; d < padded; d += 16) merge(d);
  merge(padded + 16);
  total[padded] = maximum;
}

template <class V>
void FinishAttention(const float* state, size_t width, float* out) {
  const size_t padded = PaddedWidth(width);
  const typename V::F factor = V::Set(1.0f / V::SumLanes(V::Load(state + padded + 16)));
  for (size_t d = 0; d < width; d += 16) {
    const typename V::F value = V::Mul(V::Load(state + d), factor);
    if (width - d >= 16) {
      V::Store(out + d, value);
    } else {
      V::StorePartial(out + d, value, width - d);
    }
  }
}

}  // namespace owml::kernels
