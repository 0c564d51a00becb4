// Sixteen lanes as plain arrays: the oracle of the other vector types and the code for processors without one.
// Included by kernels_scalar.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.h"
#include "kernels/inline.h"

namespace owml::kernels {
namespace {

struct ScalarVector {
  struct F {
    float lane[16];
  };
  struct I {
    int32_t lane[16];
  };
  struct Bytes {
    uint8_t lane[16][4];
  };
  using SmallSum = I;

  static constexpr size_t kLanes = 16;
  static constexpr bool kHasGemm = false;
  static constexpr bool kNarrowSums = false;
  static constexpr int kTile = 2;
  static constexpr int kAttentionWidth = 1;  // vectors of positions or dimensions that rows of attention take at once

  template <class Function>
  static OWML_INLINE F Each(Function function) {
    F result;
    for (int i = 0; i < 16; ++i) result.lane[i] = function(i);
    return result;
  }
  template <class Function>
  static OWML_INLINE I EachInt(Function function) {
    I result;
    for (int i = 0; i < 16; ++i) result.lane[i] = function(i);
    return result;
  }

  template <class Function>
  static OWML_INLINE Bytes EachByte(Function function) {
    Bytes result;
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 4; ++j) result.lane[i][j] = static_cast<uint8_t>(function(i, j));
    }
    return result;
  }

  static OWML_INLINE F Set(float x) {
    return Each([&](int) { return x; });
  }
  static OWML_INLINE F Load(const float* x) {
    return Each([&](int i) { return x[i]; });
  }
  static OWML_INLINE void Store(float* out, F x) {
    for (int i = 0; i < 16; ++i) out[i] = x.lane[i];
  }
  static OWML_INLINE F LoadPartial(const float* x, size_t count) {
    return Each([&](int i) { return static_cast<size_t>(i) < count ? x[i] : 0.0f; });
  }
  static OWML_INLINE void StorePartial(float* out, F x, size_t count) {
    for (size_t i = 0; i < count; ++i) out[i] = x.lane[i];
  }
  static OWML_INLINE F LoadFloatBytes(const void* x) {
    F result;
    __builtin_memcpy(result.lane, x, sizeof(result.lane));
    return result;
  }
  static OWML_INLINE F LoadHalf(const void* x) {
    uint16_t halves[16];
    __builtin_memcpy(halves, x, sizeof(halves));
    return Each([&](int i) { return HalfToFloat(halves[i]); });
  }
  // One half in every lane.
  static OWML_INLINE F LoadHalfOnce(const void* x) {
    uint16_t half;
    __builtin_memcpy(&half, x, sizeof(half));
    return Set(HalfToFloat(half));
  }
  static OWML_INLINE void StoreHalf(uint16_t* out, F x) {
    for (int i = 0; i < 16; ++i) out[i] = FloatToHalf(x.lane[i]);
  }
  static OWML_INLINE F LoadBfloat(const void* x) {
    uint16_t halves[16];
    __builtin_memcpy(halves, x, sizeof(halves));
    return Each([&](int i) { return FromBits(uint32_t{halves[i]} << 16); });
  }

  static OWML_INLINE F Add(F a, F b) {
    return Each([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static OWML_INLINE F Sub(F a, F b) {
    return Each([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  static OWML_INLINE F Mul(F a, F b) {
    return Each([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  static OWML_INLINE F Div(F a, F b) {
    return Each([&](int i) { return a.lane[i] / b.lane[i]; });
  }
  static OWML_INLINE F Fma(F a, F b, F c) {
    return Each([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
  }
  // As the vector instructions: the second operand where one is NaN.
  static OWML_INLINE F Max(F a, F b) {
    return Each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static OWML_INLINE F Min(F a, F b) {
    return Each([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static OWML_INLINE F SwapPairs(F x) {
    return Each([&](int i) { return x.lane[i ^ 1]; });
  }
  // As a tree: lanes i and i + 8, then i + 4, i + 2, i + 1.
  static OWML_INLINE float SumLanes(F x) {
    for (int half = 8; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) x.lane[i] += x.lane[i + half];
    }
    return x.lane[0];
  }
  // x in lanes `from` to before `to`, `other` in the rest.
  static OWML_INLINE F OnlyLanes(F x, size_t from, size_t to, F other) {
    return Each([&](size_t i) { return i >= from && i < to ? x.lane[i] : other.lane[i]; });
  }
  static OWML_INLINE bool AnyAbove(F x, float limit) {
    bool any = false;
    for (int i = 0; i < 16; ++i) any = any || x.lane[i] > limit;
    return any;
  }
  static OWML_INLINE float MaxLaneFloat(F x) {
    float result = x.lane[0];
    for (int i = 1; i < 16; ++i) result = x.lane[i] > result ? x.lane[i] : result;
    return result;
  }

  static OWML_INLINE I SetInt(int32_t x) {
    return EachInt([&](int) { return x; });
  }
  static OWML_INLINE I AddInt(I a, I b) {
    return EachInt([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static OWML_INLINE I SubInt(I a, I b) {
    return EachInt([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  // *x << Left in every lane.
  template <int Left>
  static OWML_INLINE I LoadShifted(const int32_t* x) {
    return SetInt(*x * (1 << Left));
  }
  static OWML_INLINE I MaxInt(I a, I b) {
    return EachInt([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static OWML_INLINE I MagnitudeBits(F x) {
    return EachInt([&](int i) { return static_cast<int32_t>(ToBits(x.lane[i]) & 0x7FFFFFFF); });
  }
  // To nearest, ties to even; INT32_MIN for NaN and what does not fit.
  static OWML_INLINE I RoundToInt(F x) {
    return EachInt([&](int i) {
      const float whole = __builtin_rintf(x.lane[i]);
      return whole >= -0x1p31f && whole < 0x1p31f ? static_cast<int32_t>(whole) : INT32_MIN;
    });
  }
  static OWML_INLINE F ToFloat(I x) {
    return Each([&](int i) { return static_cast<float>(x.lane[i]); });
  }
  static OWML_INLINE F PowerOfTwo(I x) {
    return Each([&](int i) { return FromBits((static_cast<uint32_t>(x.lane[i]) + 127u) << 23); });
  }
  static OWML_INLINE F Floor(F x) {
    return Each([&](int i) { return __builtin_floorf(x.lane[i]); });
  }
  // x - floor(x)
  static OWML_INLINE F Fraction(F x) { return Sub(x, Floor(x)); }
  // x * 2^floor(power) for x of 1 to 2, where that is a normal number or above all numbers.
  static OWML_INLINE F TimesPowerOfTwo(F x, F power) {
    return Mul(x, PowerOfTwo(RoundToInt(Floor(Min(power, Set(128.0f))))));
  }
  static OWML_INLINE int32_t MaxLane(I x) {
    int32_t result = x.lane[0];
    for (int i = 1; i < 16; ++i) result = x.lane[i] > result ? x.lane[i] : result;
    return result;
  }
  static OWML_INLINE int32_t SumLanesInt(I x) {
    int32_t result = 0;
    for (int i = 0; i < 16; ++i) result += x.lane[i];
    return result;
  }
  static OWML_INLINE void SumBoth(I a, I b, int32_t* sum_a, int32_t* sum_b) {
    *sum_a = SumLanesInt(a);
    *sum_b = SumLanesInt(b);
  }
  static OWML_INLINE void StoreInt8(int8_t* out, I x) {
    for (int i = 0; i < 16; ++i) out[i] = static_cast<int8_t>(x.lane[i]);
  }

  static OWML_INLINE Bytes LoadBytes(const uint8_t* x) {
    Bytes result;
    __builtin_memcpy(result.lane, x, sizeof(result.lane));
    return result;
  }
  // (x << Left or x >> -Left) & Mask, byte by byte.
  template <int Left, int Mask>
  static OWML_INLINE Bytes Bits(Bytes x) {
    return EachByte([&](int i, int j) { return (Left > 0 ? x.lane[i][j] << Left : x.lane[i][j] >> -Left) & Mask; });
  }
  static OWML_INLINE Bytes Or(Bytes a, Bytes b) {
    return EachByte([&](int i, int j) { return a.lane[i][j] | b.lane[i][j]; });
  }
  static OWML_INLINE Bytes Lookup(Bytes index, const uint8_t* table) {
    return EachByte([&](int i, int j) { return table[index.lane[i][j]]; });
  }
  static OWML_INLINE F LoadByteFloats(const uint8_t* x) {
    return Each([&](int i) { return static_cast<float>(static_cast<int8_t>(x[i])); });
  }
  static OWML_INLINE F LoadNibbleFloats(const uint8_t* x, bool high) {
    return Each([&](int i) { return static_cast<float>(high ? x[i] >> 4 : x[i] & 15); });
  }

  static OWML_INLINE SmallSum NoSmall() { return SetInt(0); }
  static OWML_INLINE SmallSum AddSmall(SmallSum sum, Bytes weights, const int8_t* x) {
    return EachInt([&](int i) {
      int32_t total = sum.lane[i];
      for (int j = 0; j < 4; ++j) total += weights.lane[i][j] * x[j];
      return total;
    });
  }
  static OWML_INLINE I WholeOf(SmallSum sum) { return sum; }
  static OWML_INLINE I AddWide(I sum, Bytes weights, const int8_t* x) { return AddSmall(sum, weights, x); }

  static OWML_INLINE I StartOffsetBytes(const int32_t*) { return SetInt(0); }
  static OWML_INLINE I AddOffsetBytes(I sum, Bytes weights, const int8_t* x) {
    return EachInt([&](int i) {
      int32_t total = sum.lane[i];
      for (int j = 0; j < 4; ++j) total += (weights.lane[i][j] - 128) * x[j];
      return total;
    });
  }

  using Rows = ScalarVector;
  static constexpr int kFloatVectors = 1;
  static constexpr int kFloatTokens = 2;
  static OWML_INLINE Bytes Broadcast(const int8_t* x) {
    return EachByte([&](int, int j) { return x[j]; });
  }
  static constexpr int kBfloatVectors = 1;
  static constexpr int kBfloatTokens = 2;
  struct DenormalsAreZero {};  // done one by one
  static constexpr bool kPairsAtOnce = true;
  static constexpr bool kSoftmaxBesideScores = false;
  using Pair = uint32_t;
  static OWML_INLINE Bytes And(Bytes pairs, int32_t mask) {
    return EachByte([&](int i, int j) { return pairs.lane[i][j] & (mask >> (8 * j)); });
  }
  static OWML_INLINE Bytes BroadcastPair(Pair pair) {
    return EachByte([&](int, int j) { return pair >> (8 * j) & 255; });
  }
  static OWML_INLINE F First(Bytes pairs) {
    return Each([&](int i) { return BfloatAt(pairs.lane[i]); });
  }
  static OWML_INLINE F Second(Bytes pairs) {
    return Each([&](int i) { return BfloatAt(pairs.lane[i] + 2); });
  }
  // Two bfloats in every lane: products of the second, then of the first.
  static OWML_INLINE F AddPairProducts(F sum, Bytes weights, Bytes pair) {
    return Each([&](int i) {
      float total = WithoutDenormals(sum.lane[i]);
      for (int j = 2; j >= 0; j -= 2) {
        total = WithoutDenormals(__builtin_fmaf(BfloatAt(weights.lane[i] + j), BfloatAt(pair.lane[i] + j), total));
      }
      return total;
    });
  }
  static OWML_INLINE I MultiplyAdd(I sum, Bytes weights, Bytes four) {
    return EachInt([&](int i) {
      int32_t total = sum.lane[i];
      for (int j = 0; j < 4; ++j) total += weights.lane[i][j] * static_cast<int8_t>(four.lane[i][j]);
      return total;
    });
  }

 private:
  static OWML_INLINE float WithoutDenormals(float x) {
    return (ToBits(x) & 0x7F800000) == 0 ? FromBits(ToBits(x) & 0x80000000) : x;
  }
  static OWML_INLINE float BfloatAt(const uint8_t* bytes) {
    return WithoutDenormals(FromBits(static_cast<uint32_t>(bytes[0]) << 16 | static_cast<uint32_t>(bytes[1]) << 24));
  }
  static OWML_INLINE float FromBits(uint32_t bits) {
    float result;
    __builtin_memcpy(&result, &bits, sizeof(result));
    return result;
  }
  static OWML_INLINE uint32_t ToBits(float x) {
    uint32_t result;
    __builtin_memcpy(&result, &x, sizeof(result));
    return result;
  }
};

}  // namespace
}  // namespace owml::kernels
