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

// Weights are relative to a score that was the highest once; it is replaced when four weights together are above this.
inline constexpr float kMostWeight = 1e7f;

// The same for a segment whose weights are relative to a score that is higher by more than this.
inline constexpr float kMostAbove = 12.0f;

// Positions of a block that a row sees.
struct SeenPositions {
  size_t from;
  size_t to;
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

// A block that R rows go through together.
template <int R>
struct RowsInBlock {
  size_t at;  // the first position
  AttentionBlock block;
  size_t count;   // of positions, after which no row sees any
  bool whole;     // every row sees all
  bool begins;    // the first of a segment that rows see
  bool ends;      // the last of a segment that rows see
  float* states;  // of the rows in the segment
  SeenPositions seen[R];
  alignas(64) float scores[R][kAttentionBlock];
};

// The softmax of a block: turns the scores of its rows into weights, and brings a state up to a higher score where
// there is one. Done between the products of the next block's scores, which use other units of a processor.
template <class V, class Products, int R>
class Softmax {
 public:
  OWML_INLINE Softmax(const AttendCall& call, RowsInBlock<R>* rows, Products* products)
      : cap_(call.cap),
        width_(call.width),
        padded_(PaddedWidth(call.width)),
        rows_(rows),
        products_(products),
        next_(rows ? 0 : R) {
    if (!rows) return;
    plain_ = rows->whole && cap_ == 0.0f;
    // A segment begins relative to its first score, where that is at hand.
    for (int r = 0; r < R && rows->begins && cap_ == 0.0f; ++r) {
      if (rows->whole || rows->seen[r].from == 0) StateOf(r)[padded_] = rows->scores[r][0];
    }
  }

  // Rows to before `end` that have not had their turn yet; how many vectors may be followed by a step of something
  // else.
  OWML_INLINE int VectorsBefore(int end) const { return plain_ && end > next_ ? 4 * (end - next_) : 0; }
  // Takes these rows.
  template <class Step>
  OWML_INLINE void Take(int end, const Step& step) {
    for (; next_ < end; ++next_) {
      if (plain_) {
        TakePlain(next_, step);
      } else {
        TakeRow(next_);
      }
    }
  }

 private:
  using F = typename V::F;

  OWML_INLINE float* StateOf(int r) const { return rows_->states + r * AttentionStateSize(width_); }

  template <class Step>
  OWML_INLINE void TakePlain(int r, const Step& step) {
    float* state = StateOf(r);
    const F relative_to = V::Set(state[padded_]);
    F weight[4];
    OWML_UNROLL for (int i = 0; i < 4; ++i) {
      weight[i] = Products::Weight(V::Sub(V::Load(rows_->scores[r] + 16 * i), relative_to));
      step();
    }
    const F sum = products_->TakeWeights(r, weight);
    if (__builtin_expect(V::AnyAbove(sum, kMostWeight), 0)) {
      TakeRow(r);
    } else {
      AddSum(sum, state);
    }
  }

  // Of which some is not seen, or capped, or above what weights are relative to.
  OWML_NOINLINE void TakeRow(int r) {
    float* state = StateOf(r);
    F score[4];
    OWML_UNROLL for (int i = 0; i < 4; ++i) {
      score[i] = V::Load(rows_->scores[r] + 16 * i);
      if (cap_ != 0.0f) score[i] = SoftCap<V>(score[i], V::Set(cap_));
    }
    F sum = Weigh(r, score, state[padded_]);
    if (V::AnyAbove(sum, kMostWeight)) {
      if (!rows_->whole) SetUnseen<V>(score, rows_->seen[r], kLowestScore);
      const float highest = V::MaxLaneFloat(V::Max(V::Max(score[0], score[1]), V::Max(score[2], score[3])));
      MakeRelative(highest, state);
      sum = Weigh(r, score, highest);
    }
    AddSum(sum, state);
  }

  // Weights of what row r sees, and their sum.
  OWML_INLINE F Weigh(int r, const F (&score)[4], float relative_to) const {
    F weight[4];
    OWML_UNROLL for (int i = 0; i < 4; ++i) weight[i] = Products::Weight(V::Sub(score[i], V::Set(relative_to)));
    if (!rows_->whole) SetUnseen<V>(weight, rows_->seen[r], 0.0f);
    return products_->TakeWeights(r, weight);
  }

  OWML_INLINE void MakeRelative(float highest, float* state) const {
    if (state[padded_] != kLowestScore) {
      const F correction = Exp2<V>(V::Set(state[padded_] - highest));
      V::Store(state + padded_ + 16, V::Mul(V::Load(state + padded_ + 16), correction));
      for (size_t d = 0; d < padded_; d += 16) V::Store(state + d, V::Mul(V::Load(state + d), correction));
    }
    state[padded_] = highest;
  }

  OWML_INLINE void AddSum(F sum, float* state) const {
    V::Store(state + padded_ + 16, V::Add(V::Load(state + padded_ + 16), sum));
  }

  const float cap_;
  const size_t width_, padded_;
  RowsInBlock<R>* const rows_;
  Products* const products_;
  bool plain_ = false;  // all is seen, nothing capped
  int next_;
};

// What all rows see is added for all at once, the rest row by row in the order of positions.
template <int R, class Products>
OWML_INLINE void AddBlock(const Products& products, const RowsInBlock<R>& rows) {
  float* const states = rows.states;
  const AttentionBlock& block = rows.block;
  if (rows.whole) {
    products.template AddValues<R>(block, 0, kAttentionBlock, 0, states);
    return;
  }
  constexpr size_t kTogether = Products::kTogether;
  const SeenPositions(&seen)[R] = rows.seen;
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

// total += part, of the next segment, which may have to do with a higher score.
template <class V>
void MergeAttention(float* total, const float* part, size_t width) {
  const size_t padded = PaddedWidth(width);
  const float above = part[padded] - total[padded];
  const bool higher = above > kMostAbove;
  const typename V::F factor = Exp2<V>(V::Set(higher ? -above : above));
  if (higher) total[padded] = part[padded];
  const auto merge = [&](size_t at) OWML_INLINE_LAMBDA {
    const typename V::F before = V::Load(total + at), more = V::Load(part + at);
    V::Store(total + at, higher ? V::Fma(before, factor, more) : V::Fma(more, factor, before));
  };
  for (size_t d = 0; d < padded; d += 16) merge(d);
  merge(padded + 16);
}

template <class V, CacheType Type, class Products, int R>
void AttendRows(const AttendCall& call, size_t row) {
  const size_t padded = PaddedWidth(call.width), state_size = AttentionStateSize(call.width);
  float* const states = call.states + row * state_size;
  size_t begin = SIZE_MAX, first = 0, stop = SIZE_MAX, end = 0;  // from `first` to `stop` every row sees all
  for (size_t r = row; r < row + R; ++r) {
    if (call.firsts[r] < begin) begin = call.firsts[r];
    if (call.firsts[r] > first) first = call.firsts[r];
    if (call.ends[r] < stop) stop = call.ends[r];
    if (call.ends[r] > end) end = call.ends[r];
  }
  begin = begin / kAttentionBlock * kAttentionBlock;
  const auto start = [&](float* of_rows) OWML_INLINE_LAMBDA {
    for (int r = 0; r < R; ++r) StartState<V>(of_rows + r * state_size, padded);
  };
  start(call.continues ? call.parts : states);

  Products products(call.queries + row, call.width);
  const auto enter = [&](size_t at, RowsInBlock<R>* rows) OWML_INLINE_LAMBDA {
    const size_t number = at / kAttentionSegment, in_segment = at % kAttentionSegment;
    const AttentionSegment& segment = call.segments[number];
    rows->at = at;
    rows->block = {segment.keys + in_segment * KeyBytes(Type, call.width),
                   segment.values + in_segment * ValueBytes(Type, call.width), Type, call.width};
    rows->count = end - at < kAttentionBlock ? end - at : kAttentionBlock;
    rows->begins = at == begin || in_segment == 0;
    rows->ends = in_segment + kAttentionBlock == kAttentionSegment || at + kAttentionBlock >= end;
    rows->states = number == 0 && !call.continues ? states : call.parts;
    rows->whole = first <= at && at + kAttentionBlock <= stop;
    if (rows->whole) return;
    for (int r = 0; r < R; ++r) {
      const size_t from = call.firsts[row + r], to = call.ends[row + r] - at;
      rows->seen[r] = {from > at ? from - at : 0, to < rows->count ? to : rows->count};
    }
  };
  using SoftmaxOfBlock = Softmax<V, Products, R>;
  const auto finish = [&](const RowsInBlock<R>& rows, SoftmaxOfBlock* softmax) OWML_INLINE_LAMBDA {
    softmax->Take(R, []() OWML_INLINE_LAMBDA {});
    AddBlock<R>(products, rows);
    if (!rows.ends) return;
    for (int r = 0; r < R && rows.states != states; ++r) {
      MergeAttention<V>(states + r * state_size, call.parts + r * state_size, call.width);
    }
    if (rows.at + kAttentionBlock < end) start(call.parts);
  };
  if constexpr (Products::kSoftmaxBesideScores) {
    RowsInBlock<R> blocks[2];
    RowsInBlock<R>* last = nullptr;
    RowsInBlock<R>* next = blocks;
    for (size_t at = begin; last || at < end; at += kAttentionBlock) {
      SoftmaxOfBlock softmax(call, last, &products);
      if (at < end) {
        enter(at, next);
        products.Scores(next->block, next->count, next->scores, &softmax);
      }
      if (last) finish(*last, &softmax);
      last = at < end ? next : nullptr;
      next = &blocks[next == blocks];
    }
  } else {
    RowsInBlock<R> rows;
    for (size_t at = begin; at < end; at += kAttentionBlock) {
      enter(at, &rows);
      products.Scores(rows.block, rows.count, rows.scores);
      SoftmaxOfBlock softmax(call, &rows, &products);
      finish(rows, &softmax);
    }
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

// Groups of rows that differ by no more than one in size.
template <class V, CacheType Type, class P = typename V::Rows>
void Attend(const AttendCall& call) {
  const size_t groups = (call.rows + kRowsTogether - 1) / kRowsTogether;
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
