// Sixteen rows with products of pairs of bfloats in one instruction.
// Included by kernels_avx512_bf16.cpp, which is compiled for AVX-512 with BF16.
#pragma once

#if defined(__AVX512BF16__)
#include "kernels/vector_avx512.h"

namespace owml::kernels {
namespace {

struct Avx512Bf16Rows : Avx512Vector {
  struct DenormalsAreZero {};  // the instruction takes them so
  static constexpr bool kPairsAtOnce = true;
  static constexpr bool kSoftmaxBesideScores = true;  // adding, rounding and scaling take units that products leave
  using Pair = uint32_t;
  static constexpr size_t kRoundedAtOnce = 32;
  static OWML_INLINE void RoundAtOnce(const float* x, Pair* out) { RoundAtOnce(Load(x), Load(x + 16), out); }
  static OWML_INLINE void RoundAtOnce(F first, F second, Pair* out) {
    _mm512_storeu_si512(out, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)));
  }
  static OWML_INLINE Bytes BroadcastPair(Pair pair) { return _mm512_set1_epi32(static_cast<int>(pair)); }
  static OWML_INLINE F AddPairProducts(F sum, Bytes weights, Bytes pair) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(weights), reinterpret_cast<__m512bh>(pair));
  }
};

}  // namespace
}  // namespace owml::kernels
#endif
