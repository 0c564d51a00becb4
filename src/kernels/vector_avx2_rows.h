// Eight rows of a panel in one AVX2 register, for tiles of several tokens.
// Included by kernels_avx2.cpp, which is compiled for AVX2, FMA and F16C.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>

#include "kernels/bfloat_pair.h"
#include "kernels/denormals.h"
#include "kernels/inline.h"

namespace owml::kernels {
namespace {

struct Avx2Rows {
  using F = __m256;
  using I = __m256i;
  using Bytes = __m256i;
  static constexpr size_t kLanes = 8;
  // vpmaddubsw would saturate on weights of eight bits.
  static constexpr bool kWideBytes = true;
  template <bool Halves>
  static constexpr int GemmVectors() {
    return 2;
  }
  template <bool Halves>
  static constexpr int GemmTokens() {
    return 4;
  }
  static constexpr int kBfloatVectors = 2;
  static constexpr int kBfloatTokens = 4;
  static constexpr int kFloatVectors = 2;
  static constexpr int kFloatTokens = 6;
  // Products of so many groups fit 16 bits: pairs of at most 127 * (2^Bits - 1).
  template <int Bits>
  static constexpr int NarrowRun() {
    int run = 8;
    while (run * 2 * 127 * ((1 << Bits) - 1) > INT16_MAX) run /= 2;
    return run;
  }

  static OWML_INLINE F Set(float x) { return _mm256_set1_ps(x); }
  static OWML_INLINE F Load(const float* x) { return _mm256_loadu_ps(x); }
  static OWML_INLINE void Store(float* out, F x) { _mm256_storeu_ps(out, x); }
  static OWML_INLINE F LoadPartial(const float* x, size_t count) { return _mm256_maskload_ps(x, FirstLanes(count)); }
  static OWML_INLINE void StorePartial(float* out, F x, size_t count) {
    _mm256_maskstore_ps(out, FirstLanes(count), x);
  }
  static OWML_INLINE F Add(F x, F y) { return _mm256_add_ps(x, y); }
  static OWML_INLINE F Mul(F x, F y) { return _mm256_mul_ps(x, y); }
  static OWML_INLINE F Fma(F x, F y, F z) { return _mm256_fmadd_ps(x, y, z); }
  static OWML_INLINE F LoadFloatBytes(const void* x) { return _mm256_loadu_ps(static_cast<const float*>(x)); }
  static OWML_INLINE F LoadHalf(const void* x) { return _mm256_cvtph_ps(Load128(x)); }
  static OWML_INLINE F ToFloat(I x) { return _mm256_cvtepi32_ps(x); }

  static OWML_INLINE I SetInt(int32_t x) { return _mm256_set1_epi32(x); }
  static OWML_INLINE I AddInt(I x, I y) { return _mm256_add_epi32(x, y); }
  static OWML_INLINE I SubInt(I x, I y) { return _mm256_sub_epi32(x, y); }
  // *x << Left in every lane.
  template <int Left>
  static OWML_INLINE I LoadShifted(const int32_t* x) {
    return _mm256_slli_epi32(_mm256_set1_epi32(*x), Left);
  }

  static OWML_INLINE Bytes LoadBytes(const uint8_t* x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x));
  }
  static OWML_INLINE Bytes Broadcast(const int8_t* x) {
    int32_t four;
    __builtin_memcpy(&four, x, sizeof(four));
    return _mm256_set1_epi32(four);
  }
  static OWML_INLINE I NarrowDot(Bytes weights, Bytes four) { return _mm256_maddubs_epi16(weights, four); }
  static OWML_INLINE I AddNarrow(I x, I y) { return Settled(_mm256_add_epi16(x, y)); }
  static OWML_INLINE I Widen(I narrow) { return _mm256_madd_epi16(narrow, _mm256_set1_epi16(1)); }

  using DenormalsAreZero = DenormalsAreZeroScope;
  // What bfloat_pairs.h asks: each number of a pair by itself.
  static constexpr bool kPairsAtOnce = false;
  static constexpr bool kSoftmaxBesideScores = false;
  using Pair = FloatPair;
  static constexpr size_t kRoundedAtOnce = 8;
  static OWML_INLINE void RoundAtOnce(const float* x, Pair* out) {
    const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(x)), upper = _mm256_set1_epi32(kSecond);
    const __m256i size = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i carried = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
    const __m256i nan = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7F800000));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i normal = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7FFFFF));
    const __m256i rounded = _mm256_and_si256(_mm256_blendv_epi8(carried, quiet, nan), upper);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_and_si256(rounded, normal));
  }
  static OWML_INLINE F First(Bytes pairs) { return _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)); }
  static OWML_INLINE F Second(Bytes pairs) { return First(_mm256_srli_epi32(pairs, 16)); }
  static OWML_INLINE Bytes And(Bytes pairs, int32_t mask) { return _mm256_and_si256(pairs, _mm256_set1_epi32(mask)); }
  static OWML_INLINE I MultiplyAdd(I sum, Bytes weights, Bytes four) {
    return AddInt(sum, Widen(NarrowDot(weights, four)));
  }

  // Of 16-bit numbers; `weights` hold two columns of each row.
  static OWML_INLINE Bytes BroadcastTwo(const int16_t* x) {
    int32_t two;
    __builtin_memcpy(&two, x, sizeof(two));
    return _mm256_set1_epi32(two);
  }
  static OWML_INLINE I AddWideProducts(I sum, Bytes weights, Bytes two) {
    return Settled(AddInt(sum, _mm256_madd_epi16(weights, two)));
  }

 private:
  static constexpr int32_t kSecond = -0x10000;  // of a pair

  // Keeps the compiler from putting sums off until no register is left.
  static OWML_INLINE I Settled(I sum) {
    __asm__ volatile("" : "+x"(sum));
    return sum;
  }
  static OWML_INLINE __m128i Load128(const void* x) { return _mm_loadu_si128(static_cast<const __m128i*>(x)); }
  static OWML_INLINE __m256i FirstLanes(size_t count) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lanes);
  }
};

}  // namespace
}  // namespace owml::kernels
#endif
