// A block of quantized weights taken apart: whole numbers, their scales, and what stands for them. The one description
// of the quantized types that packing, kernels and dequantization share.
//
// A value is  scale * (q - offset)                        Q8_0, Q4_0, Q5_0
//             scale * q + minimum                         Q4_1, Q5_1
//             scale * kCodebook[q]                        IQ4_NL, MXFP4
//             scale * scales[i] * (q - offset)            Q3_K, Q6_K; i counts sub-blocks
//             scale * scales[i] * q + minimum * minima[i] Q2_K, Q4_K, Q5_K
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/weight_type.h"

namespace owml::kernels {

struct QuantForm {
  size_t values = kBlock;     // of a block
  size_t sub = kBlock;        // values that share a sub-scale; 32, or 16
  int bits = 4;               // of q
  int offset = 0;             // a power of two
  bool scales = false;        // sub-blocks have scales of their own
  bool minimum = false;       // and with `scales`, minima
  int code_bits = 0;          // of what a codebook gives for q, with the offset; 0: there is none
  bool bfloat_scale = false;  // else half

  constexpr size_t subs() const { return values / sub; }
  constexpr bool halves() const { return sub == 16; }
  constexpr bool codebook() const { return code_bits != 0; }
  // Of what is multiplied.
  constexpr int value_bits() const { return codebook() ? code_bits : bits; }
  constexpr int shift() const { return offset == 0 ? 0 : __builtin_ctz(static_cast<unsigned>(offset)); }
  // Scale and minimum of a sub-block in four bits each share a byte.
  constexpr bool pairs() const { return bits == 2; }
};

constexpr QuantForm FormOf(WeightType type) {
  switch (type) {
    case WeightType::kQ8_0:
      return {.bits = 8, .offset = 128};
    case WeightType::kQ4_0:
      return {.offset = 8};
    case WeightType::kQ4_1:
      return {.minimum = true};
    case WeightType::kQ5_0:
      return {.bits = 5, .offset = 16};
    case WeightType::kQ5_1:
      return {.bits = 5, .minimum = true};
    case WeightType::kQ2_K:
      return {.values = 256, .sub = 16, .bits = 2, .scales = true, .minimum = true};
    case WeightType::kQ3_K:
      return {.values = 256, .sub = 16, .bits = 3, .offset = 4, .scales = true};
    case WeightType::kQ4_K:
      return {.values = 256, .scales = true, .minimum = true};
    case WeightType::kQ5_K:
      return {.values = 256, .bits = 5, .scales = true, .minimum = true};
    case WeightType::kQ6_K:
      return {.values = 256, .sub = 16, .bits = 6, .offset = 32, .scales = true};
    case WeightType::kIQ4_NL:
      return {.offset = 128, .code_bits = 8};
    case WeightType::kMXFP4:
      return {.offset = 16, .code_bits = 5, .bfloat_scale = true};
    default:
      return {};
  }
}

// What the four bits of IQ4_NL and MXFP4 stand for, with the form's offset added.
inline constexpr std::array<uint8_t, 16> kIq4NlCodebook = {1,   24,  45,  63,  79,  93,  106, 118,
                                                           129, 141, 153, 166, 181, 197, 217, 241};
inline constexpr std::array<uint8_t, 16> kMxfp4Codebook = {16, 17, 18, 19, 20, 22, 24, 28,
                                                           16, 15, 14, 13, 12, 10, 8,  4};
constexpr const std::array<uint8_t, 16>& CodebookOf(WeightType type) {
  return type == WeightType::kMXFP4 ? kMxfp4Codebook : kIq4NlCodebook;
}

struct QuantBlock {
  uint16_t scale = 0;    // half; upper half of a float with bfloat_scale
  uint16_t minimum = 0;  // half
  int8_t scales[16] = {};
  int8_t minima[16] = {};
  uint8_t quants[kMaxBlockValues] = {};
};

// Takes one block of a file apart. False where its scale or minimum is NaN or infinite.
bool Unpack(WeightType type, const std::byte* block, QuantBlock* out);

}  // namespace owml::kernels
