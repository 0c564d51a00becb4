// Products of packed weights with many tokens: some rows and columns are unpacked to bytes that stay in the first-level
// cache, and tiles of rows and tokens are multiplied from there. The same sums in the same order as in matmul_kernel.h.
// Instantiated in kernels_<isa>.cpp.
//
// R is a vector of R::kLanes rows, a panel's 16 or half of them. A tile has P such vectors of rows and C tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/matmul_kernel.h"
#include "kernels/panel.h"

namespace owml::kernels {

// Unpacked together: rows, and at most so many columns.
inline constexpr size_t kGemmRows = 2 * kPanelRows;
inline constexpr size_t kGemmColumns = 1024;
inline constexpr size_t kWideGemmColumns = 384;
// Tokens between two of these have their sums kept from one range of columns to the next.
inline constexpr size_t kGemmChunk = 256;

// 32 columns of a panel: eight planes of bytes, then vectors of 16 floats. Where R multiplies bytes with a sign as
// 16-bit numbers, these in sixteen planes of two columns.
template <class R, WeightType Type>
struct Unpacked {
  static constexpr QuantForm kForm = FormOf(Type);
  static constexpr bool kWide = kForm.value_bits() == 8 && R::kWideBytes;
  static constexpr size_t kPlanes = (kWide ? 16 : 8) * kPlaneBytes;
  static constexpr size_t kMostBlocks = (kWide ? kWideGemmColumns : kGemmColumns) / kBlock;
  enum Vector : size_t { kScale, kMinimum, kFirst = kForm.minimum ? 2 : 1, kSecond, kFirstMinimum, kSecondMinimum };
  static constexpr size_t kVectors = (kForm.halves() ? 3 : 1) * (kForm.minimum ? 2 : 1);
  static constexpr size_t kBytes = kPlanes + kVectors * kPanelRows * sizeof(float);
};

template <class V, WeightType Type, int G>
OWML_INLINE void StoreGroup(const uint8_t* planes, uint8_t* out) {
  const typename V::Bytes group = QuantBlocks<V, Type>::template Group<G>(planes);
  if constexpr (Unpacked<typename V::Rows, Type>::kWide) {
    V::StoreWide(out + 2 * G * kPlaneBytes, group);
  } else {
    V::StoreBytes(out + G * kPlaneBytes, group);
  }
}

// Of 32 columns, which are number `part` in their block, as in QuantBlocks::Add.
template <class V, WeightType Type>
OWML_INLINE void UnpackColumns(const uint8_t* head, const uint8_t* planes, size_t part, uint8_t* out) {
  using Blocks = QuantBlocks<V, Type>;
  using To = Unpacked<typename V::Rows, Type>;
  constexpr QuantForm kForm = FormOf(Type);
  StoreGroup<V, Type, 0>(planes, out), StoreGroup<V, Type, 1>(planes, out);
  StoreGroup<V, Type, 2>(planes, out), StoreGroup<V, Type, 3>(planes, out);
  StoreGroup<V, Type, 4>(planes, out), StoreGroup<V, Type, 5>(planes, out);
  StoreGroup<V, Type, 6>(planes, out), StoreGroup<V, Type, 7>(planes, out);
  auto* const vectors = reinterpret_cast<float*>(out + To::kPlanes);
  const auto store = [vectors](size_t vector, typename V::F x) { V::Store(vectors + vector * kPanelRows, x); };
  const typename Blocks::Factors factors = Blocks::LoadFactors(head, part);
  store(To::kScale, factors.scale);
  if constexpr (kForm.minimum) store(To::kMinimum, factors.minimum);
  if constexpr (kForm.halves()) {
    store(To::kFirst, factors.first);
    store(To::kSecond, factors.second);
    if constexpr (kForm.minimum) {
      store(To::kFirstMinimum, factors.first_minimum);
      store(To::kSecondMinimum, factors.second_minimum);
    }
  }
}

// sum[p][c] += products of 32 columns with `wide`, [C][32].
template <class R, int P, int C>
OWML_INLINE void AddWideDots(const uint8_t* const (&rows)[P], const int16_t* wide, typename R::I (&sum)[P][C]) {
  OWML_UNROLL for (int plane = 0; plane < 16; ++plane) {
    typename R::Bytes q[P];
    OWML_UNROLL for (int p = 0; p < P; ++p) q[p] = R::LoadBytes(rows[p] + plane * kPlaneBytes);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      const typename R::Bytes two = R::BroadcastTwo(wide + c * static_cast<int>(kBlock) + 2 * plane);
      OWML_UNROLL for (int p = 0; p < P; ++p) sum[p][c] = R::AddWideProducts(sum[p][c], q[p], two);
    }
  }
}

// sum[p][c] += products of the groups `First` to before `First + Count`.
template <class R, int Bits, int First, int Count, int P, int C>
OWML_INLINE void AddDots(const uint8_t* const (&rows)[P], const Q8Block* x, size_t stride, typename R::I (&sum)[P][C]) {
  constexpr int kRun = R::template NarrowRun<Bits>() < Count ? R::template NarrowRun<Bits>() : Count;
  if constexpr (R::template NarrowRun<Bits>() == 0) {
    OWML_UNROLL for (int g = First; g < First + Count; ++g) {
      typename R::Bytes q[P];
      OWML_UNROLL for (int p = 0; p < P; ++p) q[p] = R::LoadBytes(rows[p] + g * kPlaneBytes);
      OWML_UNROLL for (int c = 0; c < C; ++c) {
        const typename R::Bytes four = R::Broadcast(x[c * stride].values + 4 * g);
        OWML_UNROLL for (int p = 0; p < P; ++p) sum[p][c] = R::Dot(sum[p][c], q[p], four);
      }
    }
  } else {
    OWML_UNROLL for (int begin = First; begin < First + Count; begin += kRun) {
      typename R::I narrow[P][C];
      OWML_UNROLL for (int g = begin; g < begin + kRun; ++g) {
        typename R::Bytes q[P];
        OWML_UNROLL for (int p = 0; p < P; ++p) q[p] = R::LoadBytes(rows[p] + g * kPlaneBytes);
        OWML_UNROLL for (int c = 0; c < C; ++c) {
          const typename R::Bytes four = R::Broadcast(x[c * stride].values + 4 * g);
          OWML_UNROLL for (int p = 0; p < P; ++p) {
            narrow[p][c] = g == begin ? R::NarrowDot(q[p], four) : R::AddNarrow(narrow[p][c], R::NarrowDot(q[p], four));
          }
        }
      }
      OWML_UNROLL for (int p = 0; p < P; ++p) {
        OWML_UNROLL for (int c = 0; c < C; ++c) sum[p][c] = R::AddInt(sum[p][c], R::Widen(narrow[p][c]));
      }
    }
  }
}

// Where sums of products with bytes above their offset start: at -offset times the sum of the activations.
template <class R, WeightType Type>
OWML_INLINE typename R::I StartSum(const int32_t* minus_sum) {
  constexpr QuantForm kForm = FormOf(Type);
  if constexpr (kForm.offset == 0 || Unpacked<R, Type>::kWide) {
    return R::SetInt(0);
  } else {
    return R::template LoadShifted<kForm.shift()>(minus_sum);
  }
}

template <class R, WeightType Type, int P, int C>
OWML_INLINE void AddWholes(const uint8_t* const (&rows)[P], const float* const (&vectors)[P], const Q8Block* x,
                           size_t stride, const int16_t* wide, typename R::F (&total)[P][C]) {
  using From = Unpacked<R, Type>;
  constexpr QuantForm kForm = From::kForm;
  typename R::I sum[P][C];
  OWML_UNROLL for (int c = 0; c < C; ++c) {
    const typename R::I start = StartSum<R, Type>(&x[c * stride].minus_sum);
    OWML_UNROLL for (int p = 0; p < P; ++p) sum[p][c] = start;
  }
  if constexpr (From::kWide) {
    AddWideDots<R, P, C>(rows, wide, sum);
  } else {
    AddDots<R, kForm.value_bits(), 0, 8, P, C>(rows, x, stride, sum);
  }
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    const typename R::F scale = R::Load(vectors[p] + From::kScale * kPanelRows);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      total[p][c] = AddScaled<R>(total[p][c], scale, x[c * stride], R::ToFloat(sum[p][c]));
    }
    if constexpr (kForm.minimum) {
      const typename R::F minimum = R::Load(vectors[p] + From::kMinimum * kPanelRows);
      OWML_UNROLL for (int c = 0; c < C; ++c) { total[p][c] = AddMinimum<R>(total[p][c], minimum, x[c * stride]); }
    }
  }
}

template <class R, WeightType Type, int P, int C>
OWML_INLINE void AddHalves(const uint8_t* const (&rows)[P], const float* const (&vectors)[P], const Q8Block* x,
                           size_t stride, typename R::F (&total)[P][C]) {
  using From = Unpacked<R, Type>;
  constexpr QuantForm kForm = From::kForm;
  typename R::F whole[P][C];
  typename R::I sum[P][C];
  OWML_UNROLL for (int c = 0; c < C; ++c) {
    const typename R::I start = StartSum<R, Type>(&x[c * stride].minus_first);
    OWML_UNROLL for (int p = 0; p < P; ++p) sum[p][c] = start;
  }
  AddDots<R, kForm.value_bits(), 0, 4, P, C>(rows, x, stride, sum);
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    const typename R::F first = R::Load(vectors[p] + From::kFirst * kPanelRows);
    OWML_UNROLL for (int c = 0; c < C; ++c) whole[p][c] = R::Mul(R::ToFloat(sum[p][c]), first);
  }
  OWML_UNROLL for (int c = 0; c < C; ++c) {
    const Q8Block& activations = x[c * stride];
    const typename R::I start =
        R::SubInt(StartSum<R, Type>(&activations.minus_sum), StartSum<R, Type>(&activations.minus_first));
    OWML_UNROLL for (int p = 0; p < P; ++p) sum[p][c] = start;
  }
  AddDots<R, kForm.value_bits(), 4, 4, P, C>(rows, x, stride, sum);
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    const typename R::F scale = R::Load(vectors[p] + From::kScale * kPanelRows);
    const typename R::F second = R::Load(vectors[p] + From::kSecond * kPanelRows);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      const typename R::F both = R::Fma(R::ToFloat(sum[p][c]), second, whole[p][c]);
      total[p][c] = AddScaled<R>(total[p][c], scale, x[c * stride], both);
    }
    if constexpr (kForm.minimum) {
      const typename R::F minimum = R::Load(vectors[p] + From::kMinimum * kPanelRows);
      const typename R::F first_minimum = R::Load(vectors[p] + From::kFirstMinimum * kPanelRows);
      const typename R::F second_minimum = R::Load(vectors[p] + From::kSecondMinimum * kPanelRows);
      OWML_UNROLL for (int c = 0; c < C; ++c) {
        total[p][c] = AddMinima<R>(total[p][c], minimum, first_minimum, second_minimum, x[c * stride]);
      }
    }
  }
}

// A range of columns of a tile.
struct GemmRange {
  const uint8_t* unpacked;  // [panel][block]
  size_t panel_bytes;
  size_t blocks;     // of 32 columns
  const Q8Block* x;  // of the tile's first token, at the first of these blocks
  size_t stride;     // blocks from one token to the next
  int16_t* wide;     // [block][C][32]: the same activations, where they are multiplied so
  float* sums;       // [C][kGemmRows] of the columns before; written unless `last`
  bool first;
  bool last;
  float* out;  // of the tile's first token and row
  size_t out_stride;
  size_t rows;    // from the tile's first row on
  size_t tokens;  // of the C that count
  bool accumulate;
};

template <class R, WeightType Type, int P, int C>
OWML_INLINE void GemmTile(const GemmRange& range, size_t lane) {
  using From = Unpacked<R, Type>;
  const uint8_t* rows[P];
  const float* vectors[P];
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    const size_t at = lane + static_cast<size_t>(p) * R::kLanes;
    // Beyond the last panel the first stands in; what comes of it is not stored.
    const uint8_t* panel = range.unpacked + (at < range.rows ? at / kPanelRows * range.panel_bytes : 0);
    rows[p] = panel + at % kPanelRows * 4;
    vectors[p] = reinterpret_cast<const float*>(panel + From::kPlanes) + at % kPanelRows;
  }
  typename R::F total[P][C];
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      total[p][c] = R::Set(0.0f);
      if (!range.first) total[p][c] = R::Load(range.sums + c * kGemmRows + lane + p * R::kLanes);
    }
  }
  const Q8Block* x = range.x;
  for (size_t block = 0; block < range.blocks; ++block, ++x) {
    if constexpr (From::kForm.halves()) {
      AddHalves<R, Type, P, C>(rows, vectors, x, range.stride, total);
    } else {
      AddWholes<R, Type, P, C>(rows, vectors, x, range.stride, range.wide + block * C * kBlock, total);
    }
    OWML_UNROLL for (int p = 0; p < P; ++p) {
      rows[p] += From::kBytes;
      vectors[p] += From::kBytes / sizeof(float);
    }
  }
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    const size_t at = lane + static_cast<size_t>(p) * R::kLanes;
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      if (!range.last) {
        R::Store(range.sums + c * kGemmRows + at, total[p][c]);
      } else if (static_cast<size_t>(c) < range.tokens && at < range.rows) {
        StoreOutput<R>(range.out + c * range.out_stride + at, total[p][c], range.rows - at, range.accumulate);
      }
    }
  }
}

template <class R, WeightType Type, int C>
void GemmRows(const GemmRange& range) {
  constexpr int P = R::template GemmVectors<Unpacked<R, Type>::kForm.halves()>();
  const size_t rows = range.rows < kGemmRows ? range.rows : kGemmRows;
  if constexpr (Unpacked<R, Type>::kWide) {
    for (size_t i = 0; i < C * range.blocks; ++i) {
      const Q8Block& block = range.x[i % C * range.stride + i / C];
      for (size_t k = 0; k < kBlock; ++k) range.wide[i * kBlock + k] = block.values[k];
    }
  }
  for (size_t lane = 0; lane < rows; lane += P * R::kLanes) GemmTile<R, Type, P, C>(range, lane);
}

// The panels of the next `rows` rows from `row` on, or what the call names behind its last, fetched a little with each
// of so many steps of work.
class NextPanels {
 public:
  NextPanels(const MatmulCall& call, WeightType type, size_t row, size_t rows, size_t steps) {
    const size_t panel = PanelBytes(type, call.columns), end = call.rows < row + rows ? call.rows : row + rows;
    if (row < end) {
      at_ = call.panels + row / kPanelRows * panel;
      left_ = (end - row + kPanelRows - 1) / kPanelRows * panel;
    } else {
      at_ = call.next.data();
      left_ = call.next.size();
    }
    step_ = left_ / steps / kLine * kLine + kLine;
  }
  OWML_INLINE void Fetch() {
    const size_t bytes = left_ < step_ ? left_ : step_;
    for (size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(at_ + i, 0, 2);
    at_ += bytes;
    left_ -= bytes;
  }

 private:
  static constexpr size_t kLine = 64;
  const std::byte* at_ = nullptr;
  size_t left_ = 0;
  size_t step_ = 0;
};

// Columns of 32 rows, unpacked.
template <class V, WeightType Type>
void UnpackRows(const MatmulCall& call, size_t row, size_t begin, size_t blocks, uint8_t* out, size_t panel_bytes) {
  using R = typename V::Rows;
  constexpr size_t kParts = FormOf(Type).values / kBlock;
  constexpr size_t kPlanes = QuantBlocks<V, Type>::kPlanes;
  for (size_t r = row; r < call.rows && r < row + kGemmRows; r += kPanelRows, out += panel_bytes) {
    const auto* panel = reinterpret_cast<const uint8_t*>(call.panels) +
                        r / kPanelRows * PanelBytes(Type, call.columns) + begin / kParts * PanelBlockBytes(Type);
    uint8_t* to = out;
    for (size_t block = 0; block < blocks; block += kParts, panel += PanelBlockBytes(Type)) {
      for (size_t part = 0; part < kParts; ++part, to += Unpacked<R, Type>::kBytes) {
        UnpackColumns<V, Type>(panel, panel + PanelHeadBytes(Type) + part * kPlanes, part, to);
      }
    }
  }
}

template <class V, WeightType Type>
void Gemm(const MatmulCall& call) {
  using R = typename V::Rows;
  constexpr size_t kParts = FormOf(Type).values / kBlock;
  constexpr int kTokens = R::template GemmTokens<Unpacked<R, Type>::kForm.halves()>();
  constexpr size_t kMostBlocks = Unpacked<R, Type>::kMostBlocks;
  alignas(64) int16_t wide[Unpacked<R, Type>::kWide ? kTokens * kWideGemmColumns : 1];
  alignas(64) uint8_t unpacked[kGemmRows / kPanelRows * kMostBlocks * Unpacked<R, Type>::kBytes];
  alignas(64) float sums[(kGemmChunk + kTokens) * kGemmRows];

  const size_t stride = call.columns / kBlock;
  const size_t ranges = (stride + kMostBlocks - 1) / kMostBlocks;
  const size_t step = (stride / kParts + ranges - 1) / ranges * kParts;
  for (size_t row = 0; row < call.rows; row += kGemmRows) {
    NextPanels next(call, Type, row + kGemmRows, kGemmRows, call.tokens / kTokens * ranges);
    for (size_t chunk = 0; chunk < call.tokens; chunk += kGemmChunk) {
      const size_t end = call.tokens - chunk < kGemmChunk ? call.tokens : chunk + kGemmChunk;
      for (size_t begin = 0; begin < stride; begin += step) {
        GemmRange range{};
        range.unpacked = unpacked;
        range.wide = wide;
        range.blocks = stride - begin < step ? stride - begin : step;
        range.panel_bytes = range.blocks * Unpacked<R, Type>::kBytes;
        range.stride = stride;
        range.first = begin == 0;
        range.last = begin + step >= stride;
        range.out_stride = call.out_stride;
        range.rows = call.rows - row;
        range.accumulate = call.accumulate;
        // One range of columns stays as it is for all tokens.
        if (chunk == 0 || ranges > 1) UnpackRows<V, Type>(call, row, begin, range.blocks, unpacked, range.panel_bytes);
        const auto tile = [&](size_t token, size_t count) {
          range.x = call.q8 + token * stride + begin;
          range.sums = sums + (token - chunk) * kGemmRows;
          range.out = call.out + token * call.out_stride + row;
          range.tokens = count;
        };
        size_t token = chunk;
        for (; token + kTokens <= end; token += kTokens) {
          next.Fetch();
          tile(token, kTokens), GemmRows<R, Type, kTokens>(range);
        }
        for (; token + 2 <= end; token += 2) tile(token, 2), GemmRows<R, Type, 2>(range);
        if (token < end) tile(token, 1), GemmRows<R, Type, 1>(range);
      }
    }
  }
}

// By the number of tokens.
template <class V, WeightType Type>
void AnyMatmul(const MatmulCall& call) {
  if constexpr (V::kHasGemm) {
    if (call.tokens >= kGemmTokens) return Gemm<V, Type>(call);
  }
  QuantizedMatmul<V, Type>(call);
}

}  // namespace owml::kernels
