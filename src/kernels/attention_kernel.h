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

// scores[r][at..at+16P) = query r times the keys of 16P positions.
template <class V, CacheType Type, int R, int P>
OWML_INLINE void KeyScores(const AttendCall& call, size_t row, const std::byte* keys, float (*scores)[kAttentionBlock],
                           size_t at) {
  const size_t group_bytes = 16 * KeyBytes(Type, call.width);
  typename V::F sum[R][P];
  OWML_UNROLL for (int r = 0; r < R; ++r) { OWML_UNROLL for (int p = 0; p < P; ++p) sum[r][p] = V::Set(0.0f); }
  const float* const* queries = call.queries + row;
  for (size_t d = 0; d < call.width; ++d) {
    typename V::F k[P];
    OWML_UNROLL for (int p = 0; p < P; ++p) k[p] = Cache<V, Type>::Keys(keys + p * group_bytes, d);
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      const typename V::F q = V::Set(queries[r][d]);
      OWML_UNROLL for (int p = 0; p < P; ++p) sum[r][p] = V::Fma(k[p], q, sum[r][p]);
    }
  }
  OWML_UNROLL for (int r = 0; r < R; ++r) {
    OWML_UNROLL for (int p = 0; p < P; ++p) V::Store(scores[r] + at + 16 * p, sum[r][p]);
  }
}

// state[dimensions d to d+16D) of R rows += weights times values of positions `from` to `to` of a block.
template <class V, CacheType Type, int R, int D>
OWML_INLINE void AddValuesAt(const AttendCall& call, const std::byte* values, size_t from, size_t to,
                             const float (*weights)[kAttentionBlock], float* states, size_t d) {
  const size_t state_size = AttentionStateSize(call.width);
  typename V::F sum[R][D];
  OWML_UNROLL for (int r = 0; r < R; ++r) {
    OWML_UNROLL for (int i = 0; i < D; ++i) sum[r][i] = V::Load(states + r * state_size + d + 16 * i);
  }
  for (size_t position = from; position < to; ++position) {
    const std::byte* row = values + position * ValueBytes(Type, call.width);
    typename V::F v[D];
    OWML_UNROLL for (int i = 0; i < D; ++i) v[i] = Cache<V, Type>::Values(row, call.width, d + 16 * i);
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
OWML_INLINE void AddValues(const AttendCall& call, const std::byte* values, size_t from, size_t to,
                           const float (*weights)[kAttentionBlock], float* states) {
  constexpr int kWidth = V::template AttentionWidth<R>();
  if (from >= to) return;
  size_t d = 0;
  for (; d + 16 * kWidth <= PaddedWidth(call.width); d += 16 * kWidth) {
    AddValuesAt<V, Type, R, kWidth>(call, values, from, to, weights, states, d);
  }
  for (; d < PaddedWidth(call.width); d += 16) AddValuesAt<V, Type, R, 1>(call, values, from, to, weights, states, d);
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
  typename V::F highest = V::Set(state[padded]);
  OWML_UNROLL for (int i = 0; i < 4; ++i) highest = V::Max(highest, V::Load(scores + 16 * i));
  const float maximum = V::MaxLaneFloat(highest);
  alignas(64) float correction[16];
  V::Store(correction, Exp<V>(V::Set(state[padded] - maximum)));
  typename V::F sum = V::Set(0.0f);
  OWML_UNROLL for (int i = 0; i < 4; ++i) {
    const typename V::F weight = Exp<V>(V::Sub(V::Load(scores + 16 * i), V::Set(maximum)));
    V::Store(scores + 16 * i, weight);
  }
  for (size_t i = 0; i < skip; ++i) scores[i] = 0.0f;
  for (size_t i = count; i < kAttentionBlock; ++i) scores[i] = 0.0f;
  OWML_UNROLL for (int i = 0; i < 4; ++i) sum = V::Add(sum, V::Load(scores + 16 * i));
  state[padded] = maximum;
  state[padded + 1] = __builtin_fmaf(state[padded + 1], correction[0], SumLanes<V>(sum));
  for (size_t d = 0; d < padded; d += 16) V::Store(state + d, V::Mul(V::Load(state + d), V::Set(correction[0])));
}

// Positions of a block that a row sees.
struct SeenPositions {
  size_t from;
  size_t to;
};

// What all rows see is added for all at once, the rest row by row in the order of positions.
template <class V, CacheType Type, int R>
OWML_INLINE void AddBlock(const AttendCall& call, const std::byte* values, const SeenPositions (&seen)[R],
                          const float (*weights)[kAttentionBlock], float* states) {
  const size_t state_size = AttentionStateSize(call.width);
  size_t from = 0, to = kAttentionBlock;
  for (int r = 0; r < R; ++r) {
    if (seen[r].from > from) from = seen[r].from;
    if (seen[r].to < to) to = seen[r].to;
  }
  if (to < from) to = from;
  for (int r = 0; r < R && R > 1; ++r) {
    const size_t end = seen[r].to < from ? seen[r].to : from;
    AddValues<V, Type, 1>(call, values, seen[r].from, end, weights + r, states + r * state_size);
  }
  AddValues<V, Type, R>(call, values, from, to, weights, states);
  for (int r = 0; r < R && R > 1; ++r) {
    AddValues<V, Type, 1>(call, values, to, seen[r].to, weights + r, states + r * state_size);
  }
}

template <class V, CacheType Type, int R>
void AttendRows(const AttendCall& call, size_t row) {
  constexpr int kWidth = V::template AttentionWidth<R>();
  const size_t padded = PaddedWidth(call.width), state_size = AttentionStateSize(call.width);
  float* states = call.states + row * state_size;
  size_t end = 0;
  for (int r = 0; r < R; ++r) {
    float* state = states + r * state_size;
    for (size_t d = 0; d < padded; d += 16) V::Store(state + d, V::Set(0.0f));
    state[padded] = kLowestScore;
    state[padded + 1] = 0.0f;
    if (call.ends[row + r] > end) end = call.ends[row + r];
  }
  alignas(64) float scores[R][kAttentionBlock] = {};
  for (size_t block = call.begin; block < end; block += kAttentionBlock) {
    const size_t count = end - block < kAttentionBlock ? end - block : kAttentionBlock;
    const std::byte* keys = call.keys + block * KeyBytes(Type, call.width);
    size_t at = 0;
    for (; at + 16 * kWidth <= count; at += 16 * kWidth) {
      KeyScores<V, Type, R, kWidth>(call, row, keys + at * KeyBytes(Type, call.width), scores, at);
    }
    for (; at < count; at += 16) {
      KeyScores<V, Type, R, 1>(call, row, keys + at * KeyBytes(Type, call.width), scores, at);
    }
    SeenPositions seen[R];
    for (int r = 0; r < R; ++r) {
      const size_t first = call.firsts[row + r], last = call.ends[row + r];
      seen[r] = {first > block ? first - block : 0, last - block < count ? last - block : count};
      SoftmaxStep<V>(scores[r], seen[r].from, seen[r].to, call.cap, states + r * state_size, padded);
    }
    AddBlock<V, Type, R>(call, call.values + block * ValueBytes(Type, call.width), seen, scores, states);
  }
}

template <class V, CacheType Type>
void Attend(const AttendCall& call) {
  size_t row = 0;
  if constexpr (V::kAttentionRows >= 8) {
    for (; row + 8 <= call.rows; row += 8) AttendRows<V, Type, 8>(call, row);
    for (; row + 6 <= call.rows; row += 6) AttendRows<V, Type, 6>(call, row);
  }
  for (; row + 4 <= call.rows; row += 4) AttendRows<V, Type, 4>(call, row);
  for (; row + 3 <= call.rows; row += 3) AttendRows<V, Type, 3>(call, row);
  for (; row + 2 <= call.rows; row += 2) AttendRows<V, Type, 2>(call, row);
  for (; row < call.rows; ++row) AttendRows<V, Type, 1>(call, row);
}

template <class V>
void MergeAttention(float* total, const float* part, size_t width) {
  const size_t padded = PaddedWidth(width);
  const float maximum = total[padded] > part[padded] ? total[padded] : part[padded];
  const typename V::F keep = Exp<V>(V::Set(total[padded] - maximum));
  const typename V::F take = Exp<V>(V::Set(part[padded] - maximum));
  for (size_t d = 0; d < padded; d += 16) {
    V::Store(total + d, V::Fma(V::Load(part + d), take, V::Mul(V::Load(total + d), keep)));
  }
  alignas(64) float sum[16];
  V::Store(sum, V::Fma(V::Set(part[padded + 1]), take, V::Mul(V::Set(total[padded + 1]), keep)));
  total[padded] = maximum;
  total[padded + 1] = sum[0];
}

template <class V>
void FinishAttention(const float* state, size_t width, float* out) {
  const size_t padded = PaddedWidth(width);
  const typename V::F sum = V::Set(state[padded + 1]);
  for (size_t d = 0; d < width; d += 16) {
    const typename V::F value = V::Div(V::Load(state + d), sum);
    if (width - d >= 16) {
      V::Store(out + d, value);
    } else {
      V::StorePartial(out + d, value, width - d);
    }
  }
}

}  // namespace owml::kernels
