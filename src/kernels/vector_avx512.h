// Sixteen lanes in one AVX-512 register.
// Included by kernels_avx512.cpp, which is compiled for AVX-512 F, BW, DQ, VL and VNNI.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VNNI__)
#include <immintrin.h>

#include "kernels/bfloat_pair.h"
#include "kernels/denormals.h"
#include "kernels/inline.h"

namespace owml::kernels {
namespace {

struct Avx512Vector {
  using F = __m512;
  using I = __m512i;
  using Bytes = __m512i;
  using SmallSum = __m512i;

  static constexpr size_t kLanes = 16;
  static constexpr bool kHasGemm = true;
  static constexpr bool kNarrowSums = false;
  static constexpr int kTile = 8;
  static constexpr int kAttentionWidth = 4;  // vectors of positions or dimensions that rows of attention take at once

  static OWML_INLINE F Set(float x) { return _mm512_set1_ps(x); }
  static OWML_INLINE F Load(const float* x) { return _mm512_loadu_ps(x); }
  static OWML_INLINE void Store(float* out, F x) { _mm512_storeu_ps(out, x); }
  static OWML_INLINE F LoadPartial(const float* x, size_t count) { return _mm512_maskz_loadu_ps(FirstLanes(count), x); }
  static OWML_INLINE void StorePartial(float* out, F x, size_t count) {
    _mm512_mask_storeu_ps(out, FirstLanes(count), x);
  }
  static OWML_INLINE F LoadFloatBytes(const void* x) { return _mm512_loadu_ps(x); }
  static OWML_INLINE F LoadHalf(const void* x) { return _mm512_cvtph_ps(LoadHalves(x)); }
  // One half in every lane.
  static OWML_INLINE F LoadHalfOnce(const void* x) { return _mm512_cvtph_ps(_mm256_set1_epi16(LoadShort(x))); }
  static OWML_INLINE void StoreHalf(uint16_t* out, F x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
  }
  static OWML_INLINE F LoadBfloat(const void* x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(LoadHalves(x)), 16));
  }

  static OWML_INLINE F Add(F a, F b) { return _mm512_add_ps(a, b); }
  static OWML_INLINE F Sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static OWML_INLINE F Mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static OWML_INLINE F Div(F a, F b) { return _mm512_div_ps(a, b); }
  static OWML_INLINE F Fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static OWML_INLINE F Max(F a, F b) { return _mm512_max_ps(a, b); }
  static OWML_INLINE F Min(F a, F b) { return _mm512_min_ps(a, b); }
  static OWML_INLINE F SwapPairs(F x) { return _mm512_permute_ps(x, 0xB1); }
  // x0 + x1, x2 + x3, ..., y0 + y1, ...
  static OWML_INLINE F NeighbourSums(F x, F y) {
    const I even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return Add(_mm512_permutex2var_ps(x, even, y), _mm512_permutex2var_ps(x, AddInt(even, SetInt(1)), y));
  }
  // x in lanes `from` to before `to`, `other` in the rest.
  static OWML_INLINE F OnlyLanes(F x, size_t from, size_t to, F other) {
    return _mm512_mask_blend_ps(static_cast<__mmask16>(FirstLanes(to) & ~FirstLanes(from)), other, x);
  }
  static OWML_INLINE bool AnyAbove(F x, float limit) { return _mm512_cmp_ps_mask(x, Set(limit), _CMP_GT_OQ) != 0; }
  static OWML_INLINE float MaxLaneFloat(F x) { return _mm512_reduce_max_ps(x); }
  // As a tree: lanes i and i + 8, then i + 4, i + 2, i + 1.
  static OWML_INLINE float SumLanes(F x) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
  }

  static OWML_INLINE I SetInt(int32_t x) { return _mm512_set1_epi32(x); }
  static OWML_INLINE I AddInt(I a, I b) { return _mm512_add_epi32(a, b); }
  static OWML_INLINE I SubInt(I a, I b) { return _mm512_sub_epi32(a, b); }
  // *x << Left in every lane.
  template <int Left>
  static OWML_INLINE I LoadShifted(const int32_t* x) {
    return _mm512_slli_epi32(_mm512_set1_epi32(*x), Left);
  }
  static OWML_INLINE I MaxInt(I a, I b) { return _mm512_max_epi32(a, b); }
  static OWML_INLINE I MagnitudeBits(F x) {
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7FFFFFFF));
  }
  static OWML_INLINE I RoundToInt(F x) { return _mm512_cvtps_epi32(x); }
  static OWML_INLINE F ToFloat(I x) { return _mm512_cvtepi32_ps(x); }
  static OWML_INLINE F PowerOfTwo(I x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(x, _mm512_set1_epi32(127)), 23));
  }
  // x - floor(x)
  static OWML_INLINE F Fraction(F x) {
    return Sub(x, _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
  }
  // x * 2^floor(power) for x of 1 to 2, where that is a normal number or above all numbers.
  static OWML_INLINE F TimesPowerOfTwo(F x, F power) { return _mm512_scalef_ps(x, power); }
  static OWML_INLINE int32_t MaxLane(I x) { return _mm512_reduce_max_epi32(x); }
  static OWML_INLINE int32_t SumLanesInt(I x) { return _mm512_reduce_add_epi32(x); }
  static OWML_INLINE void SumBoth(I a, I b, int32_t* sum_a, int32_t* sum_b) {
    const __m256i a8 = _mm256_add_epi32(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
    const __m256i b8 = _mm256_add_epi32(_mm512_castsi512_si256(b), _mm512_extracti64x4_epi64(b, 1));
    SumEight(a8, b8, sum_a, sum_b);
  }
  static OWML_INLINE void StoreInt8(int8_t* out, I x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(x));
  }

  static OWML_INLINE Bytes LoadBytes(const uint8_t* x) { return _mm512_loadu_si512(x); }
  static OWML_INLINE void StoreBytes(uint8_t* out, Bytes x) { _mm512_storeu_si512(out, x); }
  // (x << Left or x >> -Left) & Mask, byte by byte.
  template <int Left, int Mask>
  static OWML_INLINE Bytes Bits(Bytes x) {
    if constexpr (Left > 0) x = _mm512_slli_epi16(x, Left);
    if constexpr (Left < 0) x = _mm512_srli_epi16(x, -Left);
    return _mm512_and_si512(x, _mm512_set1_epi8(Mask));
  }
  static OWML_INLINE Bytes Or(Bytes a, Bytes b) { return _mm512_or_si512(a, b); }
  static OWML_INLINE Bytes Lookup(Bytes index, const uint8_t* table) {
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(Load128(table)), index);
  }
  static OWML_INLINE F LoadByteFloats(const uint8_t* x) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(Load128(x))); }
  static OWML_INLINE F LoadNibbleFloats(const uint8_t* x, bool high) {
    const __m512i bytes = _mm512_cvtepu8_epi32(Load128(x));
    return _mm512_cvtepi32_ps(high ? _mm512_srli_epi32(bytes, 4) : _mm512_and_si512(bytes, _mm512_set1_epi32(15)));
  }

  static OWML_INLINE SmallSum NoSmall() { return _mm512_setzero_si512(); }
  static OWML_INLINE SmallSum AddSmall(SmallSum sum, Bytes weights, const int8_t* x) {
    return _mm512_dpbusd_epi32(sum, weights, Broadcast(x));
  }
  static OWML_INLINE I WholeOf(SmallSum sum) { return sum; }
  static OWML_INLINE I AddWide(I sum, Bytes weights, const int8_t* x) { return AddSmall(sum, weights, x); }

  // The products take the weights with their offset of 128, which is taken back here.
  static OWML_INLINE I StartOffsetBytes(const int32_t* minus_sum) { return LoadShifted<7>(minus_sum); }
  static OWML_INLINE I AddOffsetBytes(I sum, Bytes weights, const int8_t* x) {
    return _mm512_dpbusd_epi32(sum, weights, Broadcast(x));
  }

  // What gemm_kernel.h asks of a vector of rows.
  using Rows = Avx512Vector;
  static constexpr bool kWideBytes = false;
  template <bool Halves>
  static constexpr int GemmVectors() {
    return Halves ? 1 : 2;
  }
  template <bool Halves>
  static constexpr int GemmTokens() {
    return Halves ? 8 : 6;
  }
  static constexpr int kBfloatVectors = 2;
  static constexpr int kBfloatTokens = 8;
  static constexpr int kFloatVectors = 1;
  static constexpr int kFloatTokens = 8;
  template <int Bits>
  static constexpr int NarrowRun() {
    return 0;
  }
  static OWML_INLINE Bytes Broadcast(const int8_t* x) {
    int32_t four;
    __builtin_memcpy(&four, x, sizeof(four));
    return _mm512_set1_epi32(four);
  }
  static OWML_INLINE I Dot(I sum, Bytes weights, Bytes four) { return _mm512_dpbusd_epi32(sum, weights, four); }
  using DenormalsAreZero = DenormalsAreZeroScope;
  // What bfloat_pairs.h asks: each number of a pair by itself.
  static constexpr bool kPairsAtOnce = false;
  static constexpr bool kSoftmaxBesideScores = false;
  using Pair = FloatPair;
  static constexpr size_t kRoundedAtOnce = 16;
  static OWML_INLINE void RoundAtOnce(const float* x, Pair* out) {
    const __m512i bits = _mm512_loadu_si512(x), size = _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF));
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i carried = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
    const __mmask16 nan = _mm512_cmpgt_epi32_mask(size, _mm512_set1_epi32(0x7F800000));
    const __mmask16 normal = _mm512_cmpgt_epi32_mask(size, _mm512_set1_epi32(0x7FFFFF));
    const __m512i rounded = _mm512_mask_or_epi32(carried, nan, bits, _mm512_set1_epi32(0x400000));
    _mm512_storeu_si512(out, _mm512_maskz_and_epi32(normal, rounded, _mm512_set1_epi32(kSecond)));
  }
  static OWML_INLINE F First(Bytes pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }
  static OWML_INLINE F Second(Bytes pairs) { return _mm512_castsi512_ps(And(pairs, kSecond)); }
  static OWML_INLINE Bytes And(Bytes pairs, int32_t mask) { return _mm512_and_si512(pairs, _mm512_set1_epi32(mask)); }
  static OWML_INLINE I MultiplyAdd(I sum, Bytes weights, Bytes four) { return Dot(sum, weights, four); }

 private:
  static constexpr int32_t kSecond = -0x10000;  // of a pair

  static OWML_INLINE void SumEight(__m256i a, __m256i b, int32_t* sum_a, int32_t* sum_b) {
    const __m256i both = _mm256_hadd_epi32(a, b);  // a a b b, in each half
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    *sum_a = _mm_cvtsi128_si32(two);
    *sum_b = _mm_extract_epi32(two, 2);
  }
  static OWML_INLINE int16_t LoadShort(const void* x) {
    int16_t value;
    __builtin_memcpy(&value, x, sizeof(value));
    return value;
  }
  static OWML_INLINE __mmask16 FirstLanes(size_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  static OWML_INLINE __m128i Load128(const void* x) { return _mm_loadu_si128(static_cast<const __m128i*>(x)); }
  static OWML_INLINE __m256i LoadHalves(const void* x) { return _mm256_loadu_si256(static_cast<const __m256i*>(x)); }
};

}  // namespace
}  // namespace owml::kernels
#endif
