// Attention of query rows that share a KV head, with the softmax computed on the way: a lane is a position for the
// scores and a dimension for the values. Blocks lie at absolute positions and rows never meet, so the result of a row
// depends on its own range only.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention_products.h"
#include "kernels/bfloat_attention.h"
#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/vector_math.h"

namespace owml::kernels {

// Stands for minus infinity, without its NaNs.
inline constexpr float kLowestScore = -1e30f;

// Weights are relative to a score that was the highest once; it is replaced when one is higher by more than this.
inline constexpr float kScoreSlack = 8.0f;

// Positions of a block that a row sees.
struct SeenPositions {
  size_t from;
  size_t to;
  OWML_INLINE bool all() const { return from == 0 && to == kAttentionBlock; }
  // Within vector i of the block, from 0 to 16.
  OWML_INLINE size_t FromIn(size_t i) const { return InVector(from, i); }
  OWML_INLINE size_t ToIn(size_t i) const { return InVector(to, i); }

 private:
  static OWML_INLINE size_t InVector(size_t at, size_t i) {
    return at < 16 * i ? 0 : at - 16 * i < 16 ? at - 16 * i : 16;
  }
};

// `numbers` of a block, with another number where a row sees nothing.
template <class V>
OWML_INLINE void SetUnseen(typename V::F (&numbers)[4], const SeenPositions& seen, float other) {
  OWML_UNROLL for (int i = 0; i < 4; ++i) {
    numbers[i] = V::OnlyLanes(numbers[i], seen.FromIn(i), seen.ToIn(i), V::Set(other));
  }
}

// Turns the scores of one row into weights, and brings the state up to a higher score where there is one.
template <class V, class Products>
OWML_INLINE void SoftmaxStep(float* scores, const SeenPositions& seen, float cap, float* state, size_t padded) {
  using F = typename V::F;
  F score[4];
  OWML_UNROLL for (int i = 0; i < 4; ++i) score[i] = V::Load(scores + 16 * i);
  if (cap != 0.0f) {
    OWML_UNROLL for (int i = 0; i < 4; ++i) score[i] = SoftCap<V>(score[i], V::Set(cap));
  }
  if (!seen.all()) SetUnseen<V>(score, seen, kLowestScore);
  const F highest = V::Max(V::Max(score[0], score[1]), V::Max(score[2], score[3]));
  const float before = state[padded];
  float relative_to = before;
  F sum = V::Load(state + padded + 16);
  if (V::AnyAbove(highest, before + kScoreSlack)) {
    relative_to = V::MaxLaneFloat(highest);
    if (before != kLowestScore) {
      const F correction = ShortExp<V>(V::Set(before - relative_to));
      sum = V::Mul(sum, correction);
      for (size_t d = 0; d < padded; d += 16) V::Store(state + d, V::Mul(V::Load(state + d), correction));
    }
    state[padded] = relative_to;
  }
  F weight[4];
  OWML_UNROLL for (int i = 0; i < 4; ++i) {
    weight[i] = Products::Weight(V::Sub(score[i], V::Set(relative_to)));
  }
  if (!seen.all()) SetUnseen<V>(weight, seen, 0.0f);
  OWML_UNROLL for (int i = 0; i < 4; ++i) V::Store(scores + 16 * i, weight[i]);
  sum = V::Add(sum, V::Add(V::Add(weight[0], weight[1]), V::Add(weight[2], weight[3])));
  V::Store(state + padded + 16, sum);
}

// What a row sees of a block.
OWML_INLINE SeenPositions SeenOf(const AttendCall& call, size_t row, size_t block, size_t count) {
  const size_t first = call.firsts[row], last = call.ends[row];
  return {first > block ? first - block : 0, last - block < count ? last - block : count};
}

// What all rows see is added for all at once, the rest row by row in the order of positions.
template <int R, class Products>
OWML_INLINE void AddBlock(const Products& products, const AttentionBlock& block, const SeenPositions (&seen)[R],
                          float* states) {
  constexpr size_t kTogether = Products::kTogether;
  const size_t state_size = AttentionStateSize(block.width);
  size_t from = 0, to = kAttentionBlock;
  for (int r = 0; r < R; ++r) {
    if (seen[r].from > from) from = (seen[r].from + kTogether - 1) / kTogether * kTogether;
    if (seen[r].to < to) to = seen[r].to / kTogether * kTogether;
  }
  if (to < from) to = from;
  for (int r = 0; r < R; ++r) {
    const size_t stop = seen[r].to < from ? seen[r].to : from;
    products.template AddValues<1>(block, seen[r].from, stop, r, states + r * state_size);
  }
  products.template AddValues<R>(block, from, to, 0, states);
  for (int r = 0; r < R; ++r) {
    products.template AddValues<1>(block, to, seen[r].to, r, states + r * state_size);
  }
}

template <class V>
OWML_INLINE void StartState(float* state, size_t padded) {
  for (size_t d = 0; d < padded; d += 16) V::Store(state + d, V::Set(0.0f));
  V::Store(state + padded, V::Set(kLowestScore));
  V::Store(state + padded + 16, V::Set(0.0f));
}

template <class V, CacheType Type, class Products, int R>
void AttendRows(const AttendCall& call, size_t row) {
  const size_t padded = PaddedWidth(call.width), state_size = AttentionStateSize(call.width);
  float* states = call.states + row * state_size;
  size_t end = 0;
  for (int r = 0; r < R; ++r) {
    StartState<V>(states + r * state_size, padded);
    if (call.ends[row + r] > end) end = call.ends[row + r];
  }
  Products products(call.queries + row, call.width);
  alignas(64) float scores[R][kAttentionBlock] = {};
  for (size_t at = call.begin; at < end; at += kAttentionBlock) {
    const size_t count = end - at < kAttentionBlock ? end - at : kAttentionBlock;
    const AttentionBlock block{call.keys + at * KeyBytes(Type, call.width),
                               call.values + at * ValueBytes(Type, call.width), Type, call.width};
    products.Scores(block, count, scores);
    SeenPositions seen[R];
    for (int r = 0; r < R; ++r) {
      seen[r] = SeenOf(call, row + r, at, count);
      SoftmaxStep<V, Products>(scores[r], seen[r], call.cap, states + r * state_size, padded);
      products.TakeWeights(r, scores[r]);
    }
    AddBlock<R>(products, block, seen, states);
  }
}

// What multiplies for R rows; P as in bfloat_attention.h.
template <class V, class P, CacheType Type, int R>
struct AttentionProducts {
  using Products = FloatAttention<V, Type, R>;
};
template <class V, class P, int R>
struct AttentionProducts<V, P, CacheType::kBF16, R> {
  using Products = BfloatAttention<V, P, R>;
};

// Groups of at most six rows, which the registers hold, that differ by no more than one.
template <class V, CacheType Type, class P = typename V::Rows>
void Attend(const AttendCall& call) {
  constexpr size_t kMost = 6;
  const size_t groups = (call.rows + kMost - 1) / kMost;
  const auto attend = [&]<int R>(size_t row) {
    AttendRows<V, Type, typename AttentionProducts<V, P, Type, R>::Products, R>(call, row);
  };
  for (size_t group = 0, row = 0; group < groups; ++group) {
    const size_t count = (call.rows + group) / groups;
    if (count == 1) attend.template operator()<1>(row);
    if (count == 2) attend.template operator()<2>(row);
    if (count == 3) attend.template operator()<3>(row);
    if (count == 4) attend.template operator()<4>(row);
    if (count == 5) attend.template operator()<5>(row);
    if (count == 6) attend.template operator()<6>(row);
    row += count;
  }
}

template <class V>
void MergeAttention(float* total, const float* part, size_t width) {
  const size_t padded = PaddedWidth(width);
  const float maximum = total[padded] > part[padded] ? total[padded] : part[padded];
  const typename V::F keep = ShortExp<V>(V::Set(total[padded] - maximum));
  const typename V::F take = ShortExp<V>(V::Set(part[padded] - maximum));
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
