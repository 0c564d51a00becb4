// Sixteen lanes in two AVX2 registers.
// Included by kernels_avx2.cpp, which is compiled for AVX2, FMA and F16C.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>

#include "kernels/inline.h"
#include "kernels/vector_avx2_rows.h"

namespace owml::kernels {
namespace {

struct Avx2Vector {
  struct F {
    __m256 a, b;
  };
  struct I {
    __m256i a, b;
  };
  using Bytes = I;
  using SmallSum = I;  // 16-bit lanes: 32 columns of 4-bit weights, or 16 of 5-bit weights, stay below 2^15

  static constexpr size_t kLanes = 16;
  static constexpr bool kHasGemm = true;
  static constexpr bool kNarrowSums = true;
  static constexpr int kTile = 2;
  static constexpr int kAttentionWidth = 1;  // vectors of positions or dimensions that rows of attention take at once

  static OWML_INLINE F Set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static OWML_INLINE F Load(const float* x) { return {_mm256_loadu_ps(x), _mm256_loadu_ps(x + 8)}; }
  static OWML_INLINE void Store(float* out, F x) {
    _mm256_storeu_ps(out, x.a);
    _mm256_storeu_ps(out + 8, x.b);
  }
  static OWML_INLINE F LoadPartial(const float* x, size_t count) {
    alignas(32) float lanes[16] = {};
    for (size_t i = 0; i < count; ++i) lanes[i] = x[i];
    return Load(lanes);
  }
  static OWML_INLINE void StorePartial(float* out, F x, size_t count) {
    alignas(32) float lanes[16];
    Store(lanes, x);
    for (size_t i = 0; i < count; ++i) out[i] = lanes[i];
  }
  static OWML_INLINE F LoadFloatBytes(const void* x) { return Load(static_cast<const float*>(x)); }
  static OWML_INLINE F LoadHalf(const void* x) {
    const I bits = LoadInt(x);
    return {_mm256_cvtph_ps(_mm256_castsi256_si128(bits.a)), _mm256_cvtph_ps(_mm256_extracti128_si256(bits.a, 1))};
  }
  // One half in every lane.
  static OWML_INLINE F LoadHalfOnce(const void* x) {
    const __m256 all = _mm256_cvtph_ps(_mm_set1_epi16(LoadShort(x)));
    return {all, all};
  }
  static OWML_INLINE void StoreHalf(uint16_t* out, F x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtps_ph(x.a, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 8), _mm256_cvtps_ph(x.b, _MM_FROUND_TO_NEAREST_INT));
  }
  static OWML_INLINE F LoadBfloat(const void* x) {
    const I bits = LoadInt(x);
    const __m256i low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(bits.a));
    const __m256i high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(bits.a, 1));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(low, 16)), _mm256_castsi256_ps(_mm256_slli_epi32(high, 16))};
  }

  static OWML_INLINE F Add(F x, F y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
  static OWML_INLINE F Sub(F x, F y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
  static OWML_INLINE F Mul(F x, F y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
  static OWML_INLINE F Div(F x, F y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
  static OWML_INLINE F Fma(F x, F y, F z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
  static OWML_INLINE F Max(F x, F y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
  static OWML_INLINE F Min(F x, F y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
  static OWML_INLINE F SwapPairs(F x) { return {_mm256_permute_ps(x.a, 0xB1), _mm256_permute_ps(x.b, 0xB1)}; }
  // x0 + x1, x2 + x3, ..., y0 + y1, ...
  static OWML_INLINE F NeighbourSums(F x, F y) { return {NeighbourSums(x.a, x.b), NeighbourSums(y.a, y.b)}; }
  // As a tree: lanes i and i + 8, then i + 4, i + 2, i + 1.
  static OWML_INLINE float SumLanes(F x) {
    const __m256 eight = _mm256_add_ps(x.a, x.b);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_shuffle_ps(four, four, 1)));
  }
  // x in lanes `from` to before `to`, `other` in the rest.
  static OWML_INLINE F OnlyLanes(F x, size_t from, size_t to, F other) {
    const __m256i first = _mm256_set1_epi32(static_cast<int>(from) - 1), end = _mm256_set1_epi32(static_cast<int>(to));
    const auto blend = [&](__m256 in, __m256 out, __m256i lane) {
      const __m256i inside = _mm256_and_si256(_mm256_cmpgt_epi32(lane, first), _mm256_cmpgt_epi32(end, lane));
      return _mm256_blendv_ps(out, in, _mm256_castsi256_ps(inside));
    };
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return {blend(x.a, other.a, lanes), blend(x.b, other.b, _mm256_add_epi32(lanes, _mm256_set1_epi32(8)))};
  }
  static OWML_INLINE bool AnyAbove(F x, float limit) {
    const __m256 all = _mm256_set1_ps(limit);
    return _mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps(x.a, all, _CMP_GT_OQ), _mm256_cmp_ps(x.b, all, _CMP_GT_OQ)));
  }
  static OWML_INLINE float MaxLaneFloat(F x) {
    const __m256 eight = _mm256_max_ps(x.a, x.b);
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_shuffle_ps(four, four, 1)));
  }

  static OWML_INLINE I SetInt(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
  static OWML_INLINE I AddInt(I x, I y) { return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)}; }
  static OWML_INLINE I SubInt(I x, I y) { return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)}; }
  // *x << Left in every lane.
  template <int Left>
  static OWML_INLINE I LoadShifted(const int32_t* x) {
    const __m256i all = _mm256_slli_epi32(_mm256_set1_epi32(*x), Left);
    return {all, all};
  }
  static OWML_INLINE I MaxInt(I x, I y) { return {_mm256_max_epi32(x.a, y.a), _mm256_max_epi32(x.b, y.b)}; }
  static OWML_INLINE I MagnitudeBits(F x) {
    const __m256i mask = _mm256_set1_epi32(0x7FFFFFFF);
    return {_mm256_and_si256(_mm256_castps_si256(x.a), mask), _mm256_and_si256(_mm256_castps_si256(x.b), mask)};
  }
  static OWML_INLINE I RoundToInt(F x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
  static OWML_INLINE F ToFloat(I x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
  static OWML_INLINE F PowerOfTwo(I x) {
    const __m256i bias = _mm256_set1_epi32(127);
    return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(x.a, bias), 23)),
            _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(x.b, bias), 23))};
  }
  static OWML_INLINE F Floor(F x) { return {_mm256_floor_ps(x.a), _mm256_floor_ps(x.b)}; }
  // x - floor(x)
  static OWML_INLINE F Fraction(F x) { return Sub(x, Floor(x)); }
  // x * 2^floor(power) for x of 1 to 2, where that is a normal number or above all numbers.
  static OWML_INLINE F TimesPowerOfTwo(F x, F power) {
    return Mul(x, PowerOfTwo(RoundToInt(Floor(Min(power, Set(128.0f))))));
  }
  static OWML_INLINE int32_t MaxLane(I x) {
    const __m256i eight = _mm256_max_epi32(x.a, x.b);
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_max_epi32(four, _mm_shuffle_epi32(four, 0xB1)));
  }
  static OWML_INLINE int32_t SumLanesInt(I x) {
    const __m256i eight = _mm256_add_epi32(x.a, x.b);
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1)));
  }
  static OWML_INLINE void SumBoth(I x, I y, int32_t* sum_x, int32_t* sum_y) {
    const __m256i both = _mm256_hadd_epi32(_mm256_add_epi32(x.a, x.b), _mm256_add_epi32(y.a, y.b));  // x x y y, twice
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    *sum_x = _mm_cvtsi128_si32(two);
    *sum_y = _mm_extract_epi32(two, 2);
  }
  static OWML_INLINE void StoreInt8(int8_t* out, I x) {
    const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(x.a, x.b), 0xD8);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
  }

  static OWML_INLINE Bytes LoadBytes(const uint8_t* x) { return {LoadInt(x).a, LoadInt(x + 32).a}; }
  static OWML_INLINE void StoreBytes(uint8_t* out, Bytes x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), x.a);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32), x.b);
  }
  // Bytes with an offset of 128 as 16-bit numbers: the first two columns of all rows, then the others.
  static OWML_INLINE void StoreWide(uint8_t* out, Bytes x) {
    const __m256i low = _mm256_setr_epi8(-1, 0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13, -1, 0, -1, 1, -1, 4,
                                         -1, 5, -1, 8, -1, 9, -1, 12, -1, 13);
    const __m256i high = _mm256_setr_epi8(-1, 2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15, -1, 2, -1, 3, -1,
                                          6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15);
    const __m256i flip = _mm256_set1_epi8(-128);
    const Bytes v = {_mm256_xor_si256(x.a, flip), _mm256_xor_si256(x.b, flip)};
    const auto store = [out](int at, __m256i pairs) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), _mm256_srai_epi16(pairs, 8));
    };
    store(0, _mm256_shuffle_epi8(v.a, low));
    store(32, _mm256_shuffle_epi8(v.b, low));
    store(64, _mm256_shuffle_epi8(v.a, high));
    store(96, _mm256_shuffle_epi8(v.b, high));
  }
  // (x << Left or x >> -Left) & Mask, byte by byte.
  template <int Left, int Mask>
  static OWML_INLINE Bytes Bits(Bytes x) {
    const __m256i mask = _mm256_set1_epi8(Mask);
    if constexpr (Left > 0) x = {_mm256_slli_epi16(x.a, Left), _mm256_slli_epi16(x.b, Left)};
    if constexpr (Left < 0) x = {_mm256_srli_epi16(x.a, -Left), _mm256_srli_epi16(x.b, -Left)};
    return {_mm256_and_si256(x.a, mask), _mm256_and_si256(x.b, mask)};
  }
  static OWML_INLINE Bytes Or(Bytes x, Bytes y) { return {_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b)}; }
  static OWML_INLINE Bytes Lookup(Bytes index, const uint8_t* table) {
    const __m256i both = _mm256_broadcastsi128_si256(Load128(table));
    return {_mm256_shuffle_epi8(both, index.a), _mm256_shuffle_epi8(both, index.b)};
  }
  static OWML_INLINE F LoadByteFloats(const uint8_t* x) {
    const __m128i bytes = Load128(x);
    return ToFloat({_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))});
  }
  static OWML_INLINE F LoadNibbleFloats(const uint8_t* x, bool high) {
    const __m128i mask = _mm_set1_epi8(15);
    const __m128i bytes = _mm_and_si128(high ? _mm_srli_epi16(Load128(x), 4) : Load128(x), mask);
    return ToFloat({_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))});
  }

  static OWML_INLINE SmallSum NoSmall() { return SetInt(0); }
  static OWML_INLINE SmallSum AddSmall(SmallSum sum, Bytes weights, const int8_t* x) {
    const __m256i four = Broadcast(x);
    return {_mm256_add_epi16(sum.a, _mm256_maddubs_epi16(weights.a, four)),
            _mm256_add_epi16(sum.b, _mm256_maddubs_epi16(weights.b, four))};
  }
  static OWML_INLINE I WholeOf(SmallSum sum) {
    const __m256i ones = _mm256_set1_epi16(1);
    return {_mm256_madd_epi16(sum.a, ones), _mm256_madd_epi16(sum.b, ones)};
  }
  // For weights of up to 7 bits.
  static OWML_INLINE I AddWide(I sum, Bytes weights, const int8_t* x) {
    const __m256i four = Broadcast(x);
    return AddInt(sum, WholeOf({_mm256_maddubs_epi16(weights.a, four), _mm256_maddubs_epi16(weights.b, four)}));
  }

  // vpmaddubsw would saturate on weights up to 255, so they become signed again and give their sign to x: at most
  // 2 * 128 * 127.
  static OWML_INLINE I StartOffsetBytes(const int32_t*) { return SetInt(0); }
  static OWML_INLINE I AddOffsetBytes(I sum, Bytes weights, const int8_t* x) {
    const __m256i four = Broadcast(x);
    return {_mm256_add_epi32(sum.a, DotOffset(weights.a, four)), _mm256_add_epi32(sum.b, DotOffset(weights.b, four))};
  }

  using Rows = Avx2Rows;

 private:
  static OWML_INLINE __m256 NeighbourSums(__m256 x, __m256 y) {
    const __m256d by_halves = _mm256_castps_pd(_mm256_hadd_ps(x, y));
    return _mm256_castpd_ps(_mm256_permute4x64_pd(by_halves, 0xD8));
  }
  static OWML_INLINE int16_t LoadShort(const void* x) {
    int16_t value;
    __builtin_memcpy(&value, x, sizeof(value));
    return value;
  }
  // 32 bytes in `a`; `b` stays empty.
  static OWML_INLINE I LoadInt(const void* x) {
    return {_mm256_loadu_si256(static_cast<const __m256i*>(x)), _mm256_setzero_si256()};
  }
  static OWML_INLINE __m128i Load128(const void* x) { return _mm_loadu_si128(static_cast<const __m128i*>(x)); }
  static OWML_INLINE __m256i Broadcast(const int8_t* x) {
    int32_t four;
    __builtin_memcpy(&four, x, sizeof(four));
    return _mm256_set1_epi32(four);
  }
  static OWML_INLINE __m256i DotOffset(__m256i weights, __m256i x) {
    const __m256i w = _mm256_xor_si256(weights, _mm256_set1_epi8(-128));
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
};

}  // namespace
}  // namespace owml::kernels
#endif
