// The layouts of quantized blocks in GGUF files.
// Called where weights are packed, and for single rows.
#include "kernels/quant_block.h"

#include <cstring>

namespace owml::kernels {
namespace {

uint8_t Byte(const std::byte* at) { return std::to_integer<uint8_t>(*at); }

uint16_t Half(const std::byte* at) { return static_cast<uint16_t>(Byte(at) | Byte(at + 1) << 8); }

bool IsFinite(uint16_t half) { return (half & 0x7C00) != 0x7C00; }

bool TakeScale(const std::byte* at, QuantBlock* out) {
  out->scale = Half(at);
  return IsFinite(out->scale);
}

// A minimum that the format subtracts is kept with its sign turned.
bool TakeMinimum(const std::byte* at, bool subtracted, QuantBlock* out) {
  out->minimum = static_cast<uint16_t>(Half(at) ^ (subtracted ? 0x8000 : 0));
  return IsFinite(out->minimum);
}

// 32 nibbles in 16 bytes: values 0 to 15 low, 16 to 31 high.
void TakeNibbles(const std::byte* at, uint8_t* quants) {
  for (size_t i = 0; i < 16; ++i) {
    quants[i] = Byte(at + i) & 15;
    quants[i + 16] = Byte(at + i) >> 4;
  }
}

// One more bit for each of 32 values, the first in the lowest bit of the first byte.
void TakeFifthBits(const std::byte* at, uint8_t* quants) {
  for (size_t i = 0; i < 32; ++i) quants[i] |= static_cast<uint8_t>((Byte(at + i / 8) >> i % 8 & 1) << 4);
}

// 128 bytes of nibbles: of every 64 values the first 32 low, the others high.
void TakeLongNibbles(const std::byte* at, uint8_t* quants) {
  for (size_t i = 0; i < 256; ++i) quants[i] = Byte(at + i / 64 * 32 + i % 32) >> (i / 32 % 2 * 4) & 15;
}

// 64 bytes of pairs of bits: of every 128 values the first 32 lowest, and so on.
void TakePairs(const std::byte* at, uint8_t* quants) {
  for (size_t i = 0; i < 256; ++i) quants[i] = Byte(at + i / 128 * 32 + i % 32) >> (i / 32 % 4 * 2) & 3;
}

// Eight scales and eight minima of six bits in twelve bytes: four times six bits of scales, of minima, then the low
// halves of the rest, whose upper bits are the upper bits of the first eight bytes.
void TakeSixBitPairs(const std::byte* at, QuantBlock* out) {
  for (size_t i = 0; i < 4; ++i) {
    const uint8_t first = Byte(at + i), second = Byte(at + i + 4), rest = Byte(at + i + 8);
    out->scales[i] = static_cast<int8_t>(first & 63);
    out->minima[i] = static_cast<int8_t>(second & 63);
    out->scales[i + 4] = static_cast<int8_t>((rest & 15) | first >> 6 << 4);
    out->minima[i + 4] = static_cast<int8_t>(rest >> 4 | second >> 6 << 4);
  }
}

// Sixteen scales of six bits, 32 too large: eight bytes of low halves, then four of upper pairs.
void TakeSixBits(const std::byte* at, QuantBlock* out) {
  for (size_t i = 0; i < 16; ++i) {
    const int low = Byte(at + i % 8) >> (i / 8 * 4) & 15;
    const int high = Byte(at + 8 + i % 4) >> (i / 4 * 2) & 3;
    out->scales[i] = static_cast<int8_t>((low | high << 4) - 32);
  }
}

bool UnpackQ2K(const std::byte* block, QuantBlock* out) {
  for (size_t i = 0; i < 16; ++i) {
    out->scales[i] = static_cast<int8_t>(Byte(block + i) & 15);
    out->minima[i] = static_cast<int8_t>(Byte(block + i) >> 4);
  }
  TakePairs(block + 16, out->quants);
  const bool finite = TakeScale(block + 80, out);
  return TakeMinimum(block + 82, true, out) && finite;
}

bool UnpackQ3K(const std::byte* block, QuantBlock* out) {
  TakePairs(block + 32, out->quants);
  for (size_t i = 0; i < 256; ++i) out->quants[i] |= static_cast<uint8_t>((Byte(block + i % 32) >> i / 32 & 1) << 2);
  TakeSixBits(block + 96, out);
  return TakeScale(block + 108, out);
}

bool UnpackQ4K(const std::byte* block, QuantBlock* out) {
  TakeSixBitPairs(block + 4, out);
  TakeLongNibbles(block + 16, out->quants);
  const bool finite = TakeScale(block, out);
  return TakeMinimum(block + 2, true, out) && finite;
}

bool UnpackQ5K(const std::byte* block, QuantBlock* out) {
  TakeSixBitPairs(block + 4, out);
  TakeLongNibbles(block + 48, out->quants);
  for (size_t i = 0; i < 256; ++i) {
    out->quants[i] |= static_cast<uint8_t>((Byte(block + 16 + i % 32) >> i / 32 & 1) << 4);
  }
  const bool finite = TakeScale(block, out);
  return TakeMinimum(block + 2, true, out) && finite;
}

// Four bits of value i in `low`, two in `high`; of every 128 values in 64 and 32 bytes.
bool UnpackQ6K(const std::byte* block, QuantBlock* out) {
  const std::byte *low = block, *high = block + 128;
  for (size_t i = 0; i < 256; ++i) {
    const int four = Byte(low + i / 128 * 64 + i % 64) >> (i / 64 % 2 * 4) & 15;
    const int two = Byte(high + i / 128 * 32 + i % 32) >> (i / 32 % 4 * 2) & 3;
    out->quants[i] = static_cast<uint8_t>(four | two << 4);
  }
  std::memcpy(out->scales, block + 192, 16);
  return TakeScale(block + 208, out);
}

// The scale is a power of two in one byte, halved because the codebook is doubled; 255 is no number.
bool UnpackMxfp4(const std::byte* block, QuantBlock* out) {
  const uint8_t exponent = Byte(block);
  out->scale = static_cast<uint16_t>(exponent < 2 ? 0x20 << exponent : (exponent - 1) << 7);
  TakeNibbles(block + 1, out->quants);
  return exponent != 255;
}

}  // namespace

bool Unpack(WeightType type, const std::byte* block, QuantBlock* out) {
  switch (type) {
    case WeightType::kQ8_0:
      for (size_t i = 0; i < 32; ++i) out->quants[i] = Byte(block + 2 + i) ^ 0x80;
      return TakeScale(block, out);
    case WeightType::kQ4_0:
    case WeightType::kIQ4_NL:
      TakeNibbles(block + 2, out->quants);
      return TakeScale(block, out);
    case WeightType::kQ4_1: {
      TakeNibbles(block + 4, out->quants);
      const bool finite = TakeScale(block, out);
      return TakeMinimum(block + 2, false, out) && finite;
    }
    case WeightType::kQ5_0:
      TakeNibbles(block + 6, out->quants);
      TakeFifthBits(block + 2, out->quants);
      return TakeScale(block, out);
    case WeightType::kQ5_1: {
      TakeNibbles(block + 8, out->quants);
      TakeFifthBits(block + 4, out->quants);
      const bool finite = TakeScale(block, out);
      return TakeMinimum(block + 2, false, out) && finite;
    }
    case WeightType::kQ2_K:
      return UnpackQ2K(block, out);
    case WeightType::kQ3_K:
      return UnpackQ3K(block, out);
    case WeightType::kQ4_K:
      return UnpackQ4K(block, out);
    case WeightType::kQ5_K:
      return UnpackQ5K(block, out);
    case WeightType::kQ6_K:
      return UnpackQ6K(block, out);
    case WeightType::kMXFP4:
      return UnpackMxfp4(block, out);
    default:
      return false;
  }
}

}  // namespace owml::kernels
