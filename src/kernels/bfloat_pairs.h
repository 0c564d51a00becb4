// Products of pairs of BF16 numbers as VDPBF16PS does them: fused multiply-add of the second of a pair, then of the
// first, with denormal numbers as zero; machines with and without the instruction agree. P is a type that multiplies
// them: Pair is what it multiplies with, two numbers in the order of their columns.
// Used by bfloat_kernel.h and bfloat_attention.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/bfloat_pair.h"
#include "kernels/cache_kernel.h"
#include "kernels/inline.h"

namespace owml::kernels {

// Denormal numbers become zeros, as in the products, whose sums do not depend on the sign of a zero.
OWML_INLINE uint32_t RoundToBfloat(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  return (bits & 0x7F800000) == 0 ? 0 : ToBfloat(x);
}

// What of a pair is taken; the other number counts as zero.
inline constexpr int32_t kBothOfPair = -1, kFirstOfPair = 0xFFFF, kSecondOfPair = -0x10000;

// `count` numbers, of which the last gets a zero beside it where it is alone.
template <class P>
OWML_INLINE void RoundPairs(const float* x, size_t count, typename P::Pair* out) {
  size_t i = 0;
  if constexpr (requires { P::kRoundedAtOnce; }) {
    for (; 2 * i + P::kRoundedAtOnce <= count; i += P::kRoundedAtOnce / 2) P::RoundAtOnce(x + 2 * i, out + i);
  }
  for (; 2 * i + 1 < count; ++i)
    out[i] = PairOf<typename P::Pair>(RoundToBfloat(x[2 * i]), RoundToBfloat(x[2 * i + 1]));
  if (2 * i < count) out[i] = PairOf<typename P::Pair>(RoundToBfloat(x[2 * i]), 0);
}

// Lane i is the sum of pair i, of 16.
template <class V>
OWML_INLINE typename V::F PairSums(const uint32_t* pairs) {
  const typename V::Bytes both = V::LoadBytes(reinterpret_cast<const uint8_t*>(pairs));
  return V::Add(V::First(both), V::Second(both));
}
template <class V>
OWML_INLINE typename V::F PairSums(const FloatPair* pairs) {
  const auto* numbers = reinterpret_cast<const float*>(pairs);
  return V::NeighbourSums(V::Load(numbers), V::Load(numbers + 16));
}

// sum[i][r] += the pairs at vectors[i], as far as Mask leaves them, times pair `at` of row r.
template <class P, int32_t Mask = kBothOfPair, int R, int S, size_t Pairs>
OWML_INLINE void AddPairs(const uint8_t* const (&vectors)[S], const typename P::Pair (*rows)[Pairs], size_t at,
                          typename P::F (&sum)[S][R]) {
  const auto load = [&](int i) {
    const typename P::Bytes pairs = P::LoadBytes(vectors[i]);
    return Mask == kBothOfPair ? pairs : P::And(pairs, Mask);
  };
  if constexpr (P::kPairsAtOnce) {
    typename P::Bytes x[S];
    OWML_UNROLL for (int i = 0; i < S; ++i) x[i] = load(i);
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      const typename P::Bytes pair = P::BroadcastPair(rows[r][at]);
      OWML_UNROLL for (int i = 0; i < S; ++i) sum[i][r] = P::AddPairProducts(sum[i][r], x[i], pair);
    }
  } else {
    typename P::F x[S];
    OWML_UNROLL for (int i = 0; i < S; ++i) x[i] = P::Second(load(i));
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      const typename P::F second = P::Set(rows[r][at].second);
      OWML_UNROLL for (int i = 0; i < S; ++i) sum[i][r] = P::Fma(x[i], second, sum[i][r]);
    }
    OWML_UNROLL for (int i = 0; i < S; ++i) x[i] = P::First(load(i));
    OWML_UNROLL for (int r = 0; r < R; ++r) {
      const typename P::F first = P::Set(rows[r][at].first);
      OWML_UNROLL for (int i = 0; i < S; ++i) sum[i][r] = P::Fma(x[i], first, sum[i][r]);
    }
  }
}

}  // namespace owml::kernels
