// Products of BF16 weights with any number of tokens, whose activations are rounded to BF16 too. A lane is a row. Each
// output is summed over the width from left to right in pairs of columns, the second of a pair first, with fused
// multiply-add; denormal numbers count as zero: what VDPBF16PS does, so that machines with and without it agree.
// Instantiated in kernels_<isa>.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cache_kernel.h"
#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/matmul_kernel.h"

namespace owml::kernels {

// Pairs of columns whose activations are rounded together.
inline constexpr size_t kBfloatPairs = 1024;

// Denormal numbers become zeros, as in the products, whose sums do not depend on the sign of a zero.
OWML_INLINE uint32_t RoundToBfloat(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  return (bits & 0x7F800000) == 0 ? 0 : ToBfloat(x);
}

// Columns `begin` and on of C tokens, a pair in 32 bits, the first column in the lower half. A missing column is zero.
template <class R, int C>
OWML_INLINE void RoundPairs(const MatmulCall& call, size_t token, size_t begin, size_t pairs,
                            uint32_t (*out)[kBfloatPairs]) {
  for (int c = 0; c < C; ++c) {
    const float* x = call.f32 + (token + c) * call.columns + begin;
    const size_t whole = (call.columns - begin) / 2 < pairs ? (call.columns - begin) / 2 : pairs;
    size_t i = 0;
    if constexpr (requires { R::kRoundedAtOnce; }) {
      for (; 2 * i + R::kRoundedAtOnce <= 2 * whole; i += R::kRoundedAtOnce / 2) R::RoundAtOnce(x + 2 * i, out[c] + i);
    }
    for (; i < whole; ++i) out[c][i] = RoundToBfloat(x[2 * i]) | RoundToBfloat(x[2 * i + 1]) << 16;
    if (whole < pairs) out[c][whole] = RoundToBfloat(x[2 * whole]);
  }
}

// sums[p][c] += `pairs` pairs of columns.
template <class R, int P, int C>
OWML_INLINE void AddPairs(const uint8_t* const (&weights)[P], size_t pairs, const uint32_t (*x)[kBfloatPairs],
                          typename R::F (&sum)[P][C]) {
  for (size_t i = 0; i < pairs; ++i) {
    typename R::Bytes w[P];
    OWML_UNROLL for (int p = 0; p < P; ++p) w[p] = R::LoadBytes(weights[p] + i * 4 * kPanelRows);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      const typename R::Bytes pair = R::BroadcastPair(x[c][i]);
      OWML_UNROLL for (int p = 0; p < P; ++p) sum[p][c] = R::AddPairProducts(sum[p][c], w[p], pair);
    }
  }
}

// `x` holds the tokens' activations where all columns fit it.
template <class R, int P, int C>
OWML_INLINE void BfloatTile(const MatmulCall& call, size_t token, size_t row, uint32_t (*x)[kBfloatPairs]) {
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
      if (all > kBfloatPairs) RoundPairs<R, C>(call, token, 2 * begin, pairs, x);
      AddPairs<R, P, C>(weights, pairs, x, sum);
      OWML_UNROLL for (int p = 0; p < P; ++p) weights[p] += pairs * 4 * kPanelRows;
    }
  }
  StoreTile<R, P, C>(call, token, row, sum);
}

template <class R, int C>
void BfloatTokens(const MatmulCall& call, size_t token) {
  // Few tokens: more rows, so that enough sums are under way.
  constexpr int P = C <= 2 ? 2 * kPanelRows / R::kLanes : R::kBfloatVectors;
  alignas(64) uint32_t x[C][kBfloatPairs];
  const size_t pairs = (call.columns + 1) / 2;
  if (pairs <= kBfloatPairs) RoundPairs<R, C>(call, token, 0, pairs, x);
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
