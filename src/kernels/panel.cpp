// Packing of row-major weights into panels.
// Runs once per matrix at load; plain code, bound by memory.
#include "kernels/panel.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace owml::kernels {
namespace {

bool IsFiniteHalf(const std::byte* at) { return (std::to_integer<unsigned>(at[1]) & 0x7C) != 0x7C; }
bool IsFiniteBfloat(const std::byte* at) {
  return ((std::to_integer<unsigned>(at[1]) & 0x7F) << 1 | std::to_integer<unsigned>(at[0]) >> 7) != 0xFF;
}
bool IsFiniteFloat(const std::byte* at) { return IsFiniteBfloat(at + 2); }

// Values of `Size` bytes: column after column.
template <size_t Size, bool (*IsFinite)(const std::byte*)>
bool PackValues(const std::byte* const* rows, size_t count, size_t columns, std::byte* out) {
  bool finite = true;
  for (size_t column = 0; column < columns; ++column) {
    for (size_t r = 0; r < count; ++r) {
      const std::byte* value = rows[r] + column * Size;
      finite &= IsFinite(value);
      std::memcpy(out + (column * kPanelRows + r) * Size, value, Size);
    }
  }
  return finite;
}

// Pairs of neighbouring columns.
bool PackBfloatPairs(const std::byte* const* rows, size_t count, size_t columns, std::byte* out) {
  bool finite = true;
  for (size_t column = 0; column < columns; ++column) {
    for (size_t r = 0; r < count; ++r) {
      const std::byte* value = rows[r] + column * 2;
      finite &= IsFiniteBfloat(value);
      std::memcpy(out + (column / 2 * kPanelRows + r) * 4 + column % 2 * 2, value, 2);
    }
  }
  return finite;
}

// Four bytes of a plane: `Width` bits of every value, from bit `low` on, of groups first, first + Step, ...
template <int Width, int Step>
void PackPlane(const uint8_t* quants, int first, int low, std::byte* out) {
  constexpr uint32_t kMask = ((1u << Width) - 1) * 0x01010101u;
  uint32_t four = 0;
  for (int k = 0; k < 8 / Width; ++k) {
    uint32_t group;
    std::memcpy(&group, quants + 4 * (first + k * Step), sizeof(group));
    four |= (group >> low & kMask) << (Width * k);
  }
  std::memcpy(out, &four, sizeof(four));
}

// The planes of 32 columns of one row; `out` is the row's place in the first plane.
template <int Bits>
void PackPlanes(const uint8_t* quants, std::byte* out) {
  const auto next = [&out] { return std::exchange(out, out + kPlaneBytes); };
  if constexpr (Bits == 8) {
    for (int g = 0; g < 8; ++g) PackPlane<8, 1>(quants, g, 0, next());
  }
  if constexpr (Bits >= 4 && Bits < 8) {
    for (int g = 0; g < 4; ++g) PackPlane<4, 4>(quants, g, 0, next());
  }
  if constexpr (Bits % 4 / 2 == 1) {
    for (int g = 0; g < 8; g += 4) PackPlane<2, 1>(quants, g, Bits == 6 ? 4 : 0, next());
  }
  if constexpr (Bits % 2 == 1) PackPlane<1, 1>(quants, 0, Bits - 1, next());
}

// One block of one row into its places of the panel.
template <WeightType Type>
void PackBlock(const QuantBlock& block, size_t row, std::byte* panel) {
  constexpr QuantForm kForm = FormOf(Type);
  std::memcpy(panel + 2 * row, &block.scale, 2);
  std::byte* at = panel + 2 * kPanelRows;
  if constexpr (kForm.minimum) {
    std::memcpy(at + 2 * row, &block.minimum, 2);
    at += 2 * kPanelRows;
  }
  if constexpr (kForm.scales) {
    for (size_t i = 0; i < kForm.subs(); ++i, at += kPanelRows) {
      at[row] = static_cast<std::byte>(block.scales[i] | (kForm.pairs() ? block.minima[i] << 4 : 0));
    }
    for (size_t i = 0; kForm.minimum && !kForm.pairs() && i < kForm.subs(); ++i, at += kPanelRows) {
      at[row] = static_cast<std::byte>(block.minima[i]);
    }
  }
  for (size_t i = 0; i < kForm.values; i += kBlock, at += PlaneCount(kForm.bits) * kPlaneBytes) {
    PackPlanes<kForm.bits>(block.quants + i, at + 4 * row);
  }
}

template <WeightType Type>
bool PackBlocks(const std::byte* const* rows, size_t count, size_t columns, std::byte* out) {
  bool finite = true;
  QuantBlock block;
  for (size_t b = 0; b < columns / BlockValues(Type); ++b, out += PanelBlockBytes(Type)) {
    for (size_t r = 0; r < count; ++r) {
      finite &= Unpack(Type, rows[r] + b * BlockBytes(Type), &block);
      PackBlock<Type>(block, r, out);
    }
  }
  return finite;
}

}  // namespace

bool PackPanel(WeightType type, const std::byte* matrix, size_t rows, size_t columns, size_t panel, std::byte* out) {
  const size_t first = panel * kPanelRows;
  const size_t count = std::min(kPanelRows, rows - first);
  const std::byte* row[kPanelRows];
  for (size_t r = 0; r < count; ++r) row[r] = matrix + (first + r) * RowBytes(type, columns);
  if (count < kPanelRows || (type == WeightType::kBF16 && columns % 2 != 0))
    std::memset(out, 0, PanelBytes(type, columns));

  switch (type) {
    case WeightType::kF32:
      return PackValues<4, IsFiniteFloat>(row, count, columns, out);
    case WeightType::kF16:
      return PackValues<2, IsFiniteHalf>(row, count, columns, out);
    case WeightType::kBF16:
      return PackBfloatPairs(row, count, columns, out);
    case WeightType::kQ8_0:
      return PackBlocks<WeightType::kQ8_0>(row, count, columns, out);
    case WeightType::kQ4_0:
      return PackBlocks<WeightType::kQ4_0>(row, count, columns, out);
    case WeightType::kQ4_1:
      return PackBlocks<WeightType::kQ4_1>(row, count, columns, out);
    case WeightType::kQ5_0:
      return PackBlocks<WeightType::kQ5_0>(row, count, columns, out);
    case WeightType::kQ5_1:
      return PackBlocks<WeightType::kQ5_1>(row, count, columns, out);
    case WeightType::kQ2_K:
      return PackBlocks<WeightType::kQ2_K>(row, count, columns, out);
    case WeightType::kQ3_K:
      return PackBlocks<WeightType::kQ3_K>(row, count, columns, out);
    case WeightType::kQ4_K:
      return PackBlocks<WeightType::kQ4_K>(row, count, columns, out);
    case WeightType::kQ5_K:
      return PackBlocks<WeightType::kQ5_K>(row, count, columns, out);
    case WeightType::kQ6_K:
      return PackBlocks<WeightType::kQ6_K>(row, count, columns, out);
    case WeightType::kIQ4_NL:
      return PackBlocks<WeightType::kIQ4_NL>(row, count, columns, out);
    case WeightType::kMXFP4:
      return PackBlocks<WeightType::kMXFP4>(row, count, columns, out);
  }
  return false;
}

bool IsFiniteRow(WeightType type, const std::byte* row, size_t columns) {
  const auto all = [&](bool (*is_finite)(const std::byte*), size_t size) {
    bool finite = true;
    for (size_t i = 0; i < columns; ++i) finite &= is_finite(row + i * size);
    return finite;
  };
  if (type == WeightType::kF32) return all(IsFiniteFloat, 4);
  if (type == WeightType::kF16) return all(IsFiniteHalf, 2);
  if (type == WeightType::kBF16) return all(IsFiniteBfloat, 2);
  bool finite = true;
  QuantBlock block;
  for (size_t i = 0; i < columns; i += BlockValues(type), row += BlockBytes(type)) {
    finite &= Unpack(type, row, &block);
  }
  return finite;
}

}  // namespace owml::kernels
