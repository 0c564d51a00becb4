// Attention of query heads that share a KV head, with the softmax computed on the way: a lane is a position for the
// scores and a dimension for the values. Blocks lie at absolute positions, so the result depends on the range only.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/vector_math.h"

namespace owml::kernels {

// Stands for minus infinity, without its NaNs.
inline constexpr float kLowestScore = -1e30f;

// scores[r][0..16P) = query r times the keys of 16P positions.
template <class V, int R, int P>
OWML_INLINE void KeyScores(const AttendCall& call, const uint16_t* keys, float (*scores)[kAttentionBlock], size_t at) {
  typename V::F sum[R][P];
  OWML_UNROLL for (int r = 0; r < R; ++r) { OWML_UNROLL for (int p = 0; p < P; ++p) sum[r][p] = V::Set(0.0f); }
  for (size_t d = 0; d < call.width; ++d) {
    OWML_UNROLL for (int p = 0; p < P; ++p) {
      const typename V::F k = V::LoadHalf(keys + (p * call.width + d) * 16);
      OWML_UNROLL for (int r = 0; r < R; ++r) {
        sum[r][p] = V::Fma(k, V::Set(call.queries[r * call.width + d]), sum[r][p]);
      }
    }
  }
  OWML_UNROLL for (int r = 0; r < R; ++r) {
    OWML_UNROLL for (int p = 0; p < P; ++p) V::Store(scores[r] + at + 16 * p, sum[r][p]);
  }
}

// state[dimensions d to d+16D) += weights times values of positions `skip` to `count` of a block.
template <class V, int R, int D>
OWML_INLINE void AddValues(const AttendCall& call, const uint16_t* values, size_t padded, size_t skip, size_t count,
                           const float (*weights)[kAttentionBlock], size_t d) {
  const size_t state_size = padded + 2;
  typename V::F sum[R][D];
  OWML_UNROLL for (int r = 0; r < R; ++r) {
    OWML_UNROLL for (int i = 0; i < D; ++i) sum[r][i] = V::Load(call.states + r * state_size + d + 16 * i);
  }
  for (size_t position = skip; position < count; ++position) {
    OWML_UNROLL for (int i = 0; i < D; ++i) {
      const typename V::F v = V::LoadHalf(values + position * padded + d + 16 * i);
      OWML_UNROLL for (int r = 0; r < R; ++r) sum[r][i] = V::Fma(V::Set(weights[r][position]), v, sum[r][i]);
    }
  }
  OWML_UNROLL for (int r = 0; r < R; ++r) {
    OWML_UNROLL for (int i = 0; i < D; ++i) V::Store(call.states + r * state_size + d + 16 * i, sum[r][i]);
  }
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

template <class V, int R>
void AttendRows(const AttendCall& call) {
  const size_t padded = (call.width + 15) / 16 * 16;
  for (int r = 0; r < R; ++r) {
    float* state = call.states + r * (padded + 2);
    for (size_t d = 0; d < padded; d += 16) V::Store(state + d, V::Set(0.0f));
    state[padded] = kLowestScore;
    state[padded + 1] = 0.0f;
  }
  alignas(64) float scores[R][kAttentionBlock] = {};
  for (size_t block = call.begin; block < call.end; block += kAttentionBlock) {
    const size_t count = call.end - block < kAttentionBlock ? call.end - block : kAttentionBlock;
    const size_t skip = call.first > block ? call.first - block : 0;
    const uint16_t* keys = call.keys + block * call.width;
    size_t at = 0;
    for (; at + 16 * V::kAttentionWidth <= count; at += 16 * V::kAttentionWidth) {
      KeyScores<V, R, V::kAttentionWidth>(call, keys + at * call.width, scores, at);
    }
    for (; at < count; at += 16) KeyScores<V, R, 1>(call, keys + at * call.width, scores, at);
    for (int r = 0; r < R; ++r) SoftmaxStep<V>(scores[r], skip, count, call.cap, call.states + r * (padded + 2), padded);
    const uint16_t* values = call.values + block * padded;
    size_t d = 0;
    for (; d + 16 * V::kAttentionWidth <= padded; d += 16 * V::kAttentionWidth) {
      AddValues<V, R, V::kAttentionWidth>(call, values, padded, skip, count, scores, d);
    }
    for (; d < padded; d += 16) AddValues<V, R, 1>(call, values, padded, skip, count, scores, d);
  }
}

template <class V>
void Attend(const AttendCall& call) {
  switch (call.rows) {
    case 1:
      return AttendRows<V, 1>(call);
    case 2:
      return AttendRows<V, 2>(call);
    case 3:
      return AttendRows<V, 3>(call);
    default:
      return AttendRows<V, 4>(call);
  }
}

template <class V>
void MergeAttention(float* total, const float* part, size_t width) {
  const size_t padded = (width + 15) / 16 * 16;
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
  const size_t padded = (width + 15) / 16 * 16;
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
