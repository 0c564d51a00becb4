// Products of F32 and F16 weights with any number of tokens. A lane is a row; each output is summed over the width from
// left to right, so that it has the same bits whatever tile it was computed in. Instantiated in kernels_<isa>.cpp.
//
// R is a vector of R::kLanes rows. A tile has P such vectors of rows and C tokens.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm_kernel.h"
#include "kernels/inline.h"
#include "kernels/kernels.h"
#include "kernels/matmul_kernel.h"

namespace owml::kernels {

template <class R, WeightType Type>
OWML_INLINE typename R::F LoadWeightsOfColumn(const uint8_t* at) {
  if constexpr (Type == WeightType::kF32) return R::LoadFloatBytes(at);
  if constexpr (Type == WeightType::kF16) return R::LoadHalf(at);
}

template <class R, WeightType Type, int P, int C>
OWML_INLINE void FloatTile(const MatmulCall& call, size_t token, size_t row) {
  constexpr size_t kColumnBytes = kPanelRows * BlockBytes(Type);
  const float* x = call.f32 + token * call.columns;
  const uint8_t* weights[P];
  typename R::F sum[P][C];
  OWML_UNROLL for (int p = 0; p < P; ++p) {
    weights[p] = TileRows(call, Type, row, row + static_cast<size_t>(p) * R::kLanes, BlockBytes(Type));
    OWML_UNROLL for (int c = 0; c < C; ++c) sum[p][c] = R::Set(0.0f);
  }
  for (size_t k = 0; k < call.columns; ++k) {
    typename R::F w[P];
    OWML_UNROLL for (int p = 0; p < P; ++p) w[p] = LoadWeightsOfColumn<R, Type>(weights[p] + k * kColumnBytes);
    OWML_UNROLL for (int c = 0; c < C; ++c) {
      const typename R::F value = R::Set(x[c * call.columns + k]);
      OWML_UNROLL for (int p = 0; p < P; ++p) sum[p][c] = R::Fma(w[p], value, sum[p][c]);
    }
  }
  StoreTile<R, P, C>(call, token, row, sum);
}

template <class V, WeightType Type>
void FloatMatmul(const MatmulCall& call) {
  using R = typename V::Rows;
  constexpr int kVectors = R::kFloatVectors, kTokens = R::kFloatTokens;
  size_t token = 0;
  // Few tokens: one panel after the other, since the processor fetches best what is read in the order of memory.
  constexpr int kPanelVectors = kPanelRows / R::kLanes;
  const auto each = [&call](size_t step, auto&& tile) {
    for (size_t row = 0; row < call.rows; row += step * R::kLanes) tile(row);
  };
  if (call.tokens >= static_cast<size_t>(kTokens)) {
    each(kVectors, [&](size_t row) {
      NextPanels next(call, Type, row + kVectors * R::kLanes, kVectors * R::kLanes, call.tokens / kTokens);
      for (token = 0; token + kTokens <= call.tokens; token += kTokens) {
        next.Fetch();
        FloatTile<R, Type, kVectors, kTokens>(call, token, row);
      }
    });
  }
  const size_t rest = token;
  each(kPanelVectors, [&](size_t row) {
    for (token = rest; token + 2 <= call.tokens; token += 2) FloatTile<R, Type, kPanelVectors, 2>(call, token, row);
    if (token < call.tokens) FloatTile<R, Type, kPanelVectors, 1>(call, token, row);
  });
}

}  // namespace owml::kernels
