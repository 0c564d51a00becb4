// Products of packed weights with one, a few or many tokens. A lane is a row; each output is summed over the width from
// left to right, so that it has the same bits whatever tile it was computed in.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/inline.h"
#include "kernels/kernels.h"

namespace owml::kernels {

// 4-bit weights: sum = scale * (q - 8) without minimum, scale * q + minimum with it. `x` are the blocks of C tokens at
// the same place of the width. The integer sum of a block is exact.
template <class V, bool HasMinimum>
struct NibbleBlocks {
  static constexpr size_t kBytes = 16 * ((HasMinimum ? 4 : 2) + 16);

  template <int C>
  static OWML_INLINE void Add(const uint8_t* block, const Q8Block* x, size_t stride, typename V::F (&total)[C]) {
    constexpr int kChains = C == 1 ? 2 : 1;  // one token alone would wait for its own sums
    typename V::NibbleSum sum[C][kChains];
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      OWML_UNROLL for (int i = 0; i < kChains; ++i) sum[c][i] = V::NoNibbles();
    }
    const uint8_t* groups = block + (HasMinimum ? 64 : 32);
    OWML_UNROLL for (int g = 0; g < 4; ++g) {
      const typename V::Bytes pairs = V::LoadBytes(groups + 64 * g);
      const typename V::Bytes low = V::LowNibbles(pairs);
      OWML_UNROLL for (int c = 0; c < C; ++c) {
        sum[c][0] = V::AddNibbles(sum[c][0], low, x[c * stride].values + 4 * g);
      }
      const typename V::Bytes high = V::HighNibbles(pairs);
      OWML_UNROLL for (int c = 0; c < C; ++c) {
        sum[c][kChains - 1] = V::AddNibbles(sum[c][kChains - 1], high, x[c * stride].values + 16 + 4 * g);
      }
    }
    const typename V::F scale = V::LoadHalf(block);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      const Q8Block& activations = x[c * stride];
      typename V::I whole = V::WholeOf(sum[c][0]);
      if constexpr (kChains == 2) whole = V::AddInt(whole, V::WholeOf(sum[c][1]));
      if constexpr (!HasMinimum) whole = V::AddInt(whole, V::SetInt(-8 * activations.sum));
      total[c] = V::Fma(V::Mul(scale, V::Set(activations.scale)), V::ToFloat(whole), total[c]);
      if constexpr (HasMinimum) {
        total[c] = V::Fma(V::LoadHalf(block + 32), V::Set(activations.scaled_sum), total[c]);
      }
    }
  }
};

// 8-bit weights, stored with 128 added.
template <class V>
struct ByteBlocks {
  static constexpr size_t kBytes = 16 * (2 + 32);

  template <int C>
  static OWML_INLINE void Add(const uint8_t* block, const Q8Block* x, size_t stride, typename V::F (&total)[C]) {
    constexpr int kChains = C == 1 ? 2 : 1;
    typename V::I sum[C][kChains];
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      sum[c][0] = V::StartOffsetBytes(x[c * stride].sum);
      if constexpr (kChains == 2) sum[c][1] = V::SetInt(0);
    }
    OWML_UNROLL for (int g = 0; g < 8; ++g) {
      const typename V::Bytes weights = V::LoadBytes(block + 32 + 64 * g);
      OWML_UNROLL for (int c = 0; c < C; ++c) {
        sum[c][g % kChains] = V::AddOffsetBytes(sum[c][g % kChains], weights, x[c * stride].values + 4 * g);
      }
    }
    const typename V::F scale = V::LoadHalf(block);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      typename V::I whole = sum[c][0];
      if constexpr (kChains == 2) whole = V::AddInt(whole, sum[c][1]);
      total[c] = V::Fma(V::Mul(scale, V::Set(x[c * stride].scale)), V::ToFloat(whole), total[c]);
    }
  }
};

template <class V>
OWML_INLINE void StoreOutput(float* out, typename V::F value, size_t rows, bool accumulate) {
  if (rows >= 16) {
    V::Store(out, accumulate ? V::Add(V::Load(out), value) : value);
  } else {
    V::StorePartial(out, accumulate ? V::Add(V::LoadPartial(out, rows), value) : value, rows);
  }
}

template <class V, class Blocks, int C>
OWML_INLINE void QuantizedTile(const uint8_t* panel, const MatmulCall& call, size_t token, size_t row) {
  const size_t blocks = call.columns / kBlock;
  const Q8Block* x = call.q8 + token * blocks;
  typename V::F total[C];
  OWML_UNROLL for (int c = 0; c < C; ++c) total[c] = V::Set(0.0f);
  for (size_t b = 0; b < blocks; ++b) Blocks::template Add<C>(panel + b * Blocks::kBytes, x + b, blocks, total);
  float* out = call.out + token * call.out_stride + row;
  OWML_UNROLL for (int c = 0; c < C; ++c) {
    StoreOutput<V>(out + c * call.out_stride, total[c], call.rows - row, call.accumulate);
  }
}

template <class V, class Blocks>
void QuantizedMatmul(const MatmulCall& call) {
  const auto* panel = reinterpret_cast<const uint8_t*>(call.panels);
  for (size_t row = 0; row < call.rows; row += 16, panel += call.columns / kBlock * Blocks::kBytes) {
    size_t t = 0;
    for (; t + V::kTile <= call.tokens; t += V::kTile) QuantizedTile<V, Blocks, V::kTile>(panel, call, t, row);
    if constexpr (V::kTile > 4) {
      for (; t + 4 <= call.tokens; t += 4) QuantizedTile<V, Blocks, 4>(panel, call, t, row);
    }
    if constexpr (V::kTile > 2) {
      for (; t + 2 <= call.tokens; t += 2) QuantizedTile<V, Blocks, 2>(panel, call, t, row);
    }
    for (; t < call.tokens; ++t) QuantizedTile<V, Blocks, 1>(panel, call, t, row);
  }
}

// 16 weights of one column.
template <class V>
struct FloatColumn {
  static constexpr size_t kBytes = 64;
  static OWML_INLINE typename V::F Load(const uint8_t* at) { return V::LoadFloatBytes(at); }
};
template <class V>
struct HalfColumn {
  static constexpr size_t kBytes = 32;
  static OWML_INLINE typename V::F Load(const uint8_t* at) { return V::LoadHalf(at); }
};
template <class V>
struct BfloatColumn {
  static constexpr size_t kBytes = 32;
  static OWML_INLINE typename V::F Load(const uint8_t* at) { return V::LoadBfloat(at); }
};

// Even and odd columns are summed apart, for speed, and added at the end.
template <class V, class Column, int C>
OWML_INLINE void FloatTile(const uint8_t* panel, const MatmulCall& call, size_t token, size_t row) {
  const float* x = call.f32 + token * call.columns;
  typename V::F even[C], odd[C];
  OWML_UNROLL for (int c = 0; c < C; ++c) even[c] = odd[c] = V::Set(0.0f);
  size_t k = 0;
  for (; k + 2 <= call.columns; k += 2, panel += 2 * Column::kBytes) {
    const typename V::F w0 = Column::Load(panel), w1 = Column::Load(panel + Column::kBytes);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      even[c] = V::Fma(w0, V::Set(x[c * call.columns + k]), even[c]);
      odd[c] = V::Fma(w1, V::Set(x[c * call.columns + k + 1]), odd[c]);
    }
  }
  if (k < call.columns) {
    const typename V::F w0 = Column::Load(panel);
    OWML_UNROLL for (int c = 0; c < C; ++c) even[c] = V::Fma(w0, V::Set(x[c * call.columns + k]), even[c]);
  }
  float* out = call.out + token * call.out_stride + row;
  OWML_UNROLL for (int c = 0; c < C; ++c) {
    StoreOutput<V>(out + c * call.out_stride, V::Add(even[c], odd[c]), call.rows - row, call.accumulate);
  }
}

template <class V, class Column>
void FloatMatmul(const MatmulCall& call) {
  const auto* panel = reinterpret_cast<const uint8_t*>(call.panels);
  for (size_t row = 0; row < call.rows; row += 16, panel += call.columns * Column::kBytes) {
    size_t t = 0;
    for (; t + V::kTile <= call.tokens; t += V::kTile) FloatTile<V, Column, V::kTile>(panel, call, t, row);
    for (; t < call.tokens; ++t) FloatTile<V, Column, 1>(panel, call, t, row);
  }
}

}  // namespace owml::kernels
