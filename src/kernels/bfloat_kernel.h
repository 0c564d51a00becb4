// Products of BF16 weights with any number of tokens, whose activations are rounded to BF16 too. A lane is a row. Each
// output is summed over the width from left to right in the pairs of bfloat_pairs.h.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/bfloat_pairs.h"
#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/matmul_kernel.h"

namespace owml::kernels {

// Pairs of columns whose activations are rounded together.
inline constexpr size_t kBfloatPairs = 1024;

// `pairs` pairs of columns from `begin` on of C tokens.
template <class R, int C>
OWML_INLINE void RoundTokens(const MatmulCall& call, size_t token, size_t begin, size_t pairs,
                             typename R::Pair (*out)[kBfloatPairs]) {
  const size_t left = call.columns - begin, count = left < 2 * pairs ? left : 2 * pairs;
  for (int c = 0; c < C; ++c) RoundPairs<R>(call.f32 + (token + c) * call.columns + begin, count, out[c]);
}

// sum[p][c] += `pairs` pairs of columns.
template <class R, int P, int C>
OWML_INLINE void AddColumns(const uint8_t* const (&weights)[P], size_t pairs, const typename R::Pair (*x)[kBfloatPairs],
                            typename R::F (&sum)[P][C]) {
  for (size_t i = 0; i < pairs; ++i) {
    const uint8_t* w[P];
    OWML_UNROLL for (int p = 0; p < P; ++p) w[p] = weights[p] + i * 4 * kPanelRows;
    AddPairs<R>(w, x, i, sum);
  }
}

// `x` holds the tokens' activations where all columns fit it.
template <class R, int P, int C>
OWML_INLINE void BfloatTile(const MatmulCall& call, size_t token, size_t row, typename R::Pair (*x)[kBfloatPairs]) {
  const size_t all = (call.columns + 1) / 2;
  const uint8_t* weights[P];
  typename R::F sum[P][C];
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    weights[p] = TileRows(call, WeightType::kBF16, row, row + static_cast<size_t>(p) * R::kLanes, 4);
    OWML_UNROLL for (int c = 0; c < C; ++c) sum[p][c] = R::Set(0.0f);
  }
  {
    [[maybe_unused]] const typename R::DenormalsAreZero scope;
    for (size_t begin = 0; begin < all; begin += kBfloatPairs) {
      const size_t pairs = all - begin < kBfloatPairs ? all - begin : kBfloatPairs;
      if (all > kBfloatPairs) RoundTokens<R, C>(call, token, 2 * begin, pairs, x);
      AddColumns<R, P, C>(weights, pairs, x, sum);
      OWML_UNROLL for (int p = 0; p < P; ++p) weights[p] += pairs * 4 * kPanelRows;
    }
  }
  StoreTile<R, P, C>(call, token, row, sum);
}

template <class R, int C>
void BfloatTokens(const MatmulCall& call, size_t token) {
  // Few tokens: one panel after the other, as in float_kernel.h.
  constexpr int P = C <= 2 ? kPanelRows / R::kLanes : R::kBfloatVectors;
  alignas(64) typename R::Pair x[C][kBfloatPairs];
  const size_t pairs = (call.columns + 1) / 2;
  if (pairs <= kBfloatPairs) RoundTokens<R, C>(call, token, 0, pairs, x);
  for (size_t row = 0; row < call.rows; row += P * R::kLanes) BfloatTile<R, P, C>(call, token, row, x);
}

template <class R>
void BfloatMatmul(const MatmulCall& call) {
  constexpr int kTokens = R::kBfloatTokens;
  size_t token = 0;
  for (; token + kTokens <= call.tokens; token += kTokens) BfloatTokens<R, kTokens>(call, token);
  for (; token + 2 <= call.tokens; token += 2) BfloatTokens<R, 2>(call, token);
  if (token < call.tokens) BfloatTokens<R, 1>(call, token);
}

}  // namespace owml::kernels
