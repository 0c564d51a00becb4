// Weights in panels (kernels/panel.h) as threads read them: a thread has one row of a panel, and what it makes of 32
// columns of a quantized type or of some columns of the others is the same in every kernel.
// Included by products.cu only.
#pragma once

#include "backend/native/device/cuda/arithmetic.cuh"
#include "kernels/panel.h"
#include "kernels/quant_block.h"

namespace owml::native {

using kernels::kBlock;
using kernels::kPanelRows;
using kernels::kPlaneBytes;
using kernels::Q8Block;
using kernels::WeightType;

__device__ inline uint32_t Word(const uint8_t* at) { return *reinterpret_cast<const uint32_t*>(at); }
__device__ inline uint16_t Short(const uint8_t* at) { return *reinterpret_cast<const uint16_t*>(at); }

// What turns the whole sums of 32 columns into numbers.
struct PanelFactors {
  float scale, minimum;
  float first, second;                  // sub-scales of 16 columns each
  float first_minimum, second_minimum;  // and their minima
};

// The formulas of kernels/quant_block.h and the sums of kernels/matmul_kernel.h. Sums of whole numbers are exact.
template <WeightType Type>
struct QuantizedPanel {
  static constexpr kernels::QuantForm kForm = kernels::FormOf(Type);
  static constexpr uint32_t kHeadBytes = kernels::PanelHeadBytes(Type);
  static constexpr uint32_t kPlanesBytes = kernels::PlaneCount(kForm.bits) * kPlaneBytes;  // of 32 columns
  static constexpr uint32_t kParts = kForm.values / kBlock;                                // of a block of the file
  static constexpr uint32_t kBlockBytes = kernels::PanelBlockBytes(Type);
  static constexpr bool kHalves = kForm.halves(), kMinimum = kForm.minimum;
  // Bytes that are multiplied are signed: those of 8 bits and of codebooks lie around zero, the others count from it,
  // and the sum of the activations takes the offset off.
  static constexpr int kOffset = kForm.value_bits() == 8 || kForm.codebook() ? 0 : kForm.offset;

  // Four values of the codebook.
  static constexpr uint32_t CodebookWord(uint32_t word) {
    uint32_t four = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      const int value = kernels::CodebookOf(Type)[4 * word + i] - kForm.offset;
      four |= (static_cast<uint32_t>(value) & 0xFF) << (8 * i);
    }
    return four;
  }

  // What four numbers below 16 stand for.
  static __device__ uint32_t Lookup(uint32_t four) {
    constexpr uint32_t k0 = CodebookWord(0), k1 = CodebookWord(1), k2 = CodebookWord(2), k3 = CodebookWord(3);
    const uint32_t nibbles = (four & 0xF) | (four >> 4 & 0xF0) | (four >> 8 & 0xF00) | (four >> 12 & 0xF000);
    const uint32_t low = __byte_perm(k0, k1, nibbles & 0x7777), high = __byte_perm(k2, k3, nibbles & 0x7777);
    return __byte_perm(low, high, 0x3210 | (nibbles & 0x8888) >> 1);
  }

  // Columns 4g to 4g + 3 and 16 + 4g to 16 + 4g + 3 of a row whose place in the first plane is `planes`.
  static __device__ void Groups(const uint8_t* planes, uint32_t g, uint32_t* first, uint32_t* second) {
    if constexpr (kForm.bits == 8) {
      *first = Word(planes + g * kPlaneBytes) ^ 0x80808080;
      *second = Word(planes + (4 + g) * kPlaneBytes) ^ 0x80808080;
    } else if constexpr (kForm.bits >= 4) {
      const uint32_t both = Word(planes + g * kPlaneBytes);
      const uint8_t* more = planes + 4 * kPlaneBytes;
      *first = both & 0x0F0F0F0F;
      *second = both >> 4 & 0x0F0F0F0F;
      if constexpr (kForm.bits == 5) {
        const uint32_t bits = Word(more);
        *first |= (bits >> g & 0x01010101) << 4;
        *second |= (bits >> (4 + g) & 0x01010101) << 4;
      } else if constexpr (kForm.bits == 6) {
        *first |= (Word(more) >> 2 * g & 0x03030303) << 4;
        *second |= (Word(more + kPlaneBytes) >> 2 * g & 0x03030303) << 4;
      }
      if constexpr (kForm.codebook()) {
        *first = Lookup(*first);
        *second = Lookup(*second);
      }
    } else {
      *first = Word(planes) >> 2 * g & 0x03030303;
      *second = Word(planes + kPlaneBytes) >> 2 * g & 0x03030303;
      if constexpr (kForm.bits == 3) {
        const uint32_t bits = Word(planes + 2 * kPlaneBytes);
        *first |= (bits >> g & 0x01010101) << 2;
        *second |= (bits >> (4 + g) & 0x01010101) << 2;
      }
    }
  }

  // Of 32 columns, which are number `part` in the block that begins at `block`.
  static __device__ PanelFactors Factors(const uint8_t* block, uint32_t row, uint32_t part) {
    constexpr uint32_t kScales = (kMinimum ? 4 : 2) * kPanelRows, kSubs = kForm.subs();
    const uint8_t* scales = block + kScales + kSubs / kParts * kPanelRows * part + row;
    PanelFactors factors = {};
    factors.scale = kForm.bfloat_scale ? FromBfloat(Short(block + 2 * row)) : FromHalf(Short(block + 2 * row));
    if constexpr (kMinimum) factors.minimum = FromHalf(Short(block + 2 * kPanelRows + 2 * row));
    if constexpr (kHalves) {
      const int first = static_cast<int8_t>(scales[0]), second = static_cast<int8_t>(scales[kPanelRows]);
      if constexpr (kForm.pairs()) {
        factors.first = static_cast<float>(first & 15), factors.second = static_cast<float>(second & 15);
        factors.first_minimum = static_cast<float>(first >> 4 & 15);
        factors.second_minimum = static_cast<float>(second >> 4 & 15);
      } else {
        factors.first = static_cast<float>(first), factors.second = static_cast<float>(second);
      }
    } else if constexpr (kForm.scales) {
      factors.scale *= static_cast<float>(static_cast<int8_t>(scales[0]));
      if constexpr (kMinimum) factors.minimum *= static_cast<float>(static_cast<int8_t>(scales[kPanelRows * kSubs]));
    }
    return factors;
  }

  // total and the product of 32 columns; `words` are their groups in order.
  static __device__ float Add(float total, const PanelFactors& factors, const uint32_t (&words)[8], const Q8Block& x) {
    const auto* values = reinterpret_cast<const int*>(x.values);
    int first = 0, second = 0;
#pragma unroll
    for (uint32_t g = 0; g < 4; ++g) {
      first = __dp4a(static_cast<int>(words[g]), values[g], first);
      second = __dp4a(static_cast<int>(words[4 + g]), values[4 + g], second);
    }
    if constexpr (kHalves) {
      first += kOffset * x.minus_first;
      second += kOffset * (x.minus_sum - x.minus_first);
      const float whole = fmaf(static_cast<float>(second), factors.second, static_cast<float>(first) * factors.first);
      total = fmaf(factors.scale * x.scale, whole, total);
      if constexpr (kMinimum) {
        const float first_sum = static_cast<float>(-x.minus_first);
        const float second_sum = static_cast<float>(x.minus_first - x.minus_sum);
        const float below = fmaf(second_sum, factors.second_minimum, first_sum * factors.first_minimum);
        total = fmaf(factors.minimum * x.scale, below, total);
      }
    } else {
      const int whole = first + second + kOffset * x.minus_sum;
      total = fmaf(factors.scale * x.scale, static_cast<float>(whole), total);
      if constexpr (kMinimum) total = fmaf(factors.minimum, x.scaled_sum, total);
    }
    return total;
  }
};

// F32, F16 and BF16. For BF16 activations are rounded too.
template <WeightType Type>
struct FloatPanel {
  static __device__ float Weight(const uint8_t* panel, uint32_t row, uint32_t column) {
    if constexpr (Type == WeightType::kF32) {
      return *reinterpret_cast<const float*>(panel + (column * kPanelRows + row) * 4);
    } else if constexpr (Type == WeightType::kF16) {
      return FromHalf(Short(panel + (column * kPanelRows + row) * 2));
    } else {
      return FromBfloat(Short(panel + (column / 2 * kPanelRows + row) * 4 + column % 2 * 2));
    }
  }
  static __device__ float Activation(float x) { return Type == WeightType::kBF16 ? FromBfloat(ToBfloat(x)) : x; }
};

}  // namespace owml::native
