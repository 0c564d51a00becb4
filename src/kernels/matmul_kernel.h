// Products of quantized weights with one token or a few. A lane is a row; each output is summed over the width from
// left to right, so that it has the same bits whatever tile it was computed in.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/inline.h"
#include "kernels/kernels.h"

namespace owml::kernels {

// What the integer sums of 32 columns add to an output, here and in gemm_kernel.h: with the sub-scales of halves in
// `whole`, and then minima.
template <class V>
OWML_INLINE typename V::F AddScaled(typename V::F total, typename V::F scale, const Q8Block& x, typename V::F whole) {
  return V::Fma(V::Mul(scale, V::Set(x.scale)), whole, total);
}
template <class V>
OWML_INLINE typename V::F AddMinimum(typename V::F total, typename V::F minimum, const Q8Block& x) {
  return V::Fma(minimum, V::Set(x.scaled_sum), total);
}
template <class V>
OWML_INLINE typename V::F AddMinima(typename V::F total, typename V::F minimum, typename V::F first,
                                    typename V::F second, const Q8Block& x) {
  const float first_sum = static_cast<float>(-x.minus_first);
  const float second_sum = static_cast<float>(x.minus_first - x.minus_sum);
  const typename V::F below = V::Fma(V::Set(second_sum), second, V::Mul(V::Set(first_sum), first));
  return V::Fma(V::Mul(minimum, V::Set(x.scale)), below, total);
}

// 32 columns of quantized weights, as quant_block.h and panel.h describe them. `x` are the blocks of C tokens at the
// same place of the width. Integer sums are exact, over 32 columns or, where the sub-blocks are that short, over 16;
// sub-scales multiply them exactly too (below 2^24), so that only the scales of blocks and activations round.
template <class V, WeightType Type>
struct QuantBlocks {
  static constexpr QuantForm kForm = FormOf(Type);
  static constexpr size_t kHead = PanelHeadBytes(Type);
  static constexpr size_t kPlanes = PlaneCount(kForm.bits) * kPlaneBytes;
  static constexpr size_t kParts = kForm.values / kBlock;
  static constexpr bool kOffsetBytes = kForm.value_bits() == 8;
  // Vectors with 16-bit sums hold the products of 5-bit weights for half a block only.
  static constexpr bool kFiveBits = kForm.value_bits() == 5;
  template <int C>
  static constexpr int kSums = kForm.halves() || C == 1 || (V::kNarrowSums && kFiveBits) ? 2 : 1;

  // Columns 4G to 4G + 3 of all rows: q, or with a codebook what it stands for.
  template <int G>
  static OWML_INLINE typename V::Bytes Group(const uint8_t* planes) {
    if constexpr (kForm.bits == 8) {
      return V::LoadBytes(planes + G * kPlaneBytes);
    } else if constexpr (kForm.bits >= 4) {
      typename V::Bytes q = V::template Bits<G / 4 * -4, 15>(V::LoadBytes(planes + G % 4 * kPlaneBytes));
      if constexpr (kForm.codebook()) return V::Lookup(q, CodebookOf(Type).data());
      const uint8_t* more = planes + 4 * kPlaneBytes;
      if constexpr (kForm.bits == 5) q = V::Or(q, V::template Bits<4 - G, 16>(V::LoadBytes(more)));
      if constexpr (kForm.bits == 6) {
        q = V::Or(q, V::template Bits<4 - G % 4 * 2, 48>(V::LoadBytes(more + G / 4 * kPlaneBytes)));
      }
      return q;
    } else {
      typename V::Bytes q = V::template Bits<G % 4 * -2, 3>(V::LoadBytes(planes + G / 4 * kPlaneBytes));
      if constexpr (kForm.bits == 3) q = V::Or(q, V::template Bits<2 - G, 4>(V::LoadBytes(planes + 2 * kPlaneBytes)));
      return q;
    }
  }

  static OWML_INLINE auto NoSum() {
    if constexpr (kOffsetBytes || kForm.bits == 6) {
      return V::SetInt(0);
    } else {
      return V::NoSmall();
    }
  }

  template <class Sum>
  static OWML_INLINE Sum AddProducts(Sum sum, typename V::Bytes q, const int8_t* x) {
    if constexpr (kOffsetBytes) {
      return V::AddOffsetBytes(sum, q, x);
    } else if constexpr (kForm.bits == 6) {
      return V::AddWide(sum, q, x);
    } else {
      return V::AddSmall(sum, q, x);
    }
  }

  template <class Sum>
  static OWML_INLINE typename V::I Whole(Sum sum) {
    if constexpr (kOffsetBytes || kForm.bits == 6) {
      return sum;
    } else {
      return V::WholeOf(sum);
    }
  }

  template <int G, int C, class Sum, int S>
  static OWML_INLINE void AddGroup(const uint8_t* planes, const Q8Block* x, size_t stride, Sum (&sum)[C][S]) {
    const typename V::Bytes q = Group<G>(planes);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      sum[c][G / 4 % S] = AddProducts(sum[c][G / 4 % S], q, x[c * stride].values + 4 * G);
    }
  }

  // `head` and `planes` of the block and of the 32 columns, which are number `part` in their block.
  template <int C>
  static OWML_INLINE void Add(const uint8_t* head, const uint8_t* planes, size_t part, const Q8Block* x, size_t stride,
                              typename V::F (&total)[C]) {
    constexpr int S = kSums<C>;
    decltype(NoSum()) sum[C][S];
    OWML_UNROLL for (int c = 0; c < C; ++c) { OWML_UNROLL for (int s = 0; s < S; ++s) sum[c][s] = NoSum(); }
    if constexpr (kOffsetBytes) {
      OWML_UNROLL for (int c = 0; c < C; ++c) sum[c][0] = V::StartOffsetBytes(&x[c * stride].minus_sum);
    }
    // Groups g and 4 + g may share a plane.
    AddGroup<0>(planes, x, stride, sum), AddGroup<4>(planes, x, stride, sum);
    AddGroup<1>(planes, x, stride, sum), AddGroup<5>(planes, x, stride, sum);
    AddGroup<2>(planes, x, stride, sum), AddGroup<6>(planes, x, stride, sum);
    AddGroup<3>(planes, x, stride, sum), AddGroup<7>(planes, x, stride, sum);
    if constexpr (kForm.halves()) {
      AddHalves(head, part, x, stride, sum, total);
    } else {
      AddWholes(head, part, x, stride, sum, total);
    }
  }

  // What turns the sums of 32 columns into numbers.
  struct Factors {
    typename V::F scale, minimum;
    typename V::F first, second;                  // sub-scales of 16 columns each
    typename V::F first_minimum, second_minimum;  // and their minima
  };

  static OWML_INLINE Factors LoadFactors(const uint8_t* head, size_t part) {
    Factors factors;
    const uint8_t* scales = head + (kForm.minimum ? 64 : 32) + kForm.values / kForm.sub / kParts * 16 * part;
    factors.scale = kForm.bfloat_scale ? V::LoadBfloat(head) : V::LoadHalf(head);
    factors.minimum = kForm.minimum ? V::LoadHalf(head + 32) : factors.scale;
    factors.first = factors.second = factors.first_minimum = factors.second_minimum = factors.scale;
    if constexpr (kForm.halves() && kForm.pairs()) {
      factors.first = V::LoadNibbleFloats(scales, false), factors.second = V::LoadNibbleFloats(scales + 16, false);
      factors.first_minimum = V::LoadNibbleFloats(scales, true);
      factors.second_minimum = V::LoadNibbleFloats(scales + 16, true);
    } else if constexpr (kForm.halves()) {
      factors.first = V::LoadByteFloats(scales), factors.second = V::LoadByteFloats(scales + 16);
    } else if constexpr (kForm.scales) {
      factors.scale = V::Mul(factors.scale, V::LoadByteFloats(scales));
      if constexpr (kForm.minimum) {
        factors.minimum = V::Mul(factors.minimum, V::LoadByteFloats(scales + 16 * kForm.subs()));
      }
    }
    return factors;
  }

  // One scale for the 32 columns.
  template <int C, class Sum, int S>
  static OWML_INLINE void AddWholes(const uint8_t* head, size_t part, const Q8Block* x, size_t stride,
                                    const Sum (&sum)[C][S], typename V::F (&total)[C]) {
    const Factors factors = LoadFactors(head, part);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      const Q8Block& activations = x[c * stride];
      typename V::I whole = Whole(sum[c][0]);
      if constexpr (S == 2) whole = V::AddInt(whole, Whole(sum[c][1]));
      if constexpr (kForm.offset != 0 && !kOffsetBytes) {
        whole = V::AddInt(whole, V::template LoadShifted<kForm.shift()>(&activations.minus_sum));
      }
      total[c] = AddScaled<V>(total[c], factors.scale, activations, V::ToFloat(whole));
      if constexpr (kForm.minimum) total[c] = AddMinimum<V>(total[c], factors.minimum, activations);
    }
  }

  // A scale for each 16 columns.
  template <int C, class Sum>
  static OWML_INLINE void AddHalves(const uint8_t* head, size_t part, const Q8Block* x, size_t stride,
                                    const Sum (&sum)[C][2], typename V::F (&total)[C]) {
    const Factors factors = LoadFactors(head, part);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      const Q8Block& activations = x[c * stride];
      typename V::I a = Whole(sum[c][0]), b = Whole(sum[c][1]);
      if constexpr (kForm.offset != 0) {
        const typename V::I start = V::template LoadShifted<kForm.shift()>(&activations.minus_first);
        a = V::AddInt(a, start);
        b = V::AddInt(b, V::SubInt(V::template LoadShifted<kForm.shift()>(&activations.minus_sum), start));
      }
      const typename V::F whole = V::Fma(V::ToFloat(b), factors.second, V::Mul(V::ToFloat(a), factors.first));
      total[c] = AddScaled<V>(total[c], factors.scale, activations, whole);
      if constexpr (kForm.minimum) {
        total[c] = AddMinima<V>(total[c], factors.minimum, factors.first_minimum, factors.second_minimum, activations);
      }
    }
  }
};

// Of the vector's rows the first `rows`.
template <class V>
OWML_INLINE void StoreOutput(float* out, typename V::F value, size_t rows, bool accumulate) {
  if (rows >= V::kLanes) {
    V::Store(out, accumulate ? V::Add(V::Load(out), value) : value);
  } else {
    V::StorePartial(out, accumulate ? V::Add(V::LoadPartial(out, rows), value) : value, rows);
  }
}

// A tile of P vectors of rows from `row` on and C tokens from `token` on. Beyond the last panel the first of the tile
// stands in, and what comes of it is not stored.
OWML_INLINE const uint8_t* TileRows(const MatmulCall& call, WeightType type, size_t row, size_t at, size_t row_bytes) {
  const size_t panel = (at < call.rows ? at : row) / kPanelRows;
  return reinterpret_cast<const uint8_t*>(call.panels) + panel * PanelBytes(type, call.columns) +
         at % kPanelRows * row_bytes;
}
template <class R, int P, int C>
OWML_INLINE void StoreTile(const MatmulCall& call, size_t token, size_t row, const typename R::F (&sum)[P][C]) {
  float* out = call.out + token * call.out_stride;
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    const size_t at = row + static_cast<size_t>(p) * R::kLanes;
    if (at >= call.rows) break;
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      StoreOutput<R>(out + c * call.out_stride + at, sum[p][c], call.rows - at, call.accumulate);
    }
  }
}

template <class V, WeightType Type, int C>
OWML_INLINE void QuantizedTile(const uint8_t* panel, const MatmulCall& call, size_t token, size_t row) {
  using Blocks = QuantBlocks<V, Type>;
  const size_t stride = call.columns / kBlock;
  const Q8Block* x = call.q8 + token * stride;
  typename V::F total[C];
  OWML_UNROLL for (int c = 0; c < C; ++c) total[c] = V::Set(0.0f);
  for (size_t b = 0; b < stride; b += Blocks::kParts) {
    const uint8_t* planes = panel + Blocks::kHead;
    for (size_t part = 0; part < Blocks::kParts; ++part, planes += Blocks::kPlanes) {
      Blocks::template Add<C>(panel, planes, part, x + b + part, stride, total);
    }
    panel = planes;
  }
  float* out = call.out + token * call.out_stride + row;
  OWML_UNROLL for (int c = 0; c < C; ++c) {
    StoreOutput<V>(out + c * call.out_stride, total[c], call.rows - row, call.accumulate);
  }
}

template <class V, WeightType Type>
void QuantizedMatmul(const MatmulCall& call) {
  const auto* panel = reinterpret_cast<const uint8_t*>(call.panels);
  for (size_t row = 0; row < call.rows; row += 16, panel += PanelBytes(Type, call.columns)) {
    size_t t = 0;
    for (; t + V::kTile <= call.tokens; t += V::kTile) QuantizedTile<V, Type, V::kTile>(panel, call, t, row);
    if constexpr (V::kTile > 4) {
      for (; t + 4 <= call.tokens; t += 4) QuantizedTile<V, Type, 4>(panel, call, t, row);
    }
    if constexpr (V::kTile > 2) {
      for (; t + 2 <= call.tokens; t += 2) QuantizedTile<V, Type, 2>(panel, call, t, row);
    }
    for (; t < call.tokens; ++t) QuantizedTile<V, Type, 1>(panel, call, t, row);
  }
}

}  // namespace owml::kernels
