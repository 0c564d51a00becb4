// Packing of row-major weights into panels.
// Runs once per matrix at load; plain code, bound by memory.
#include "kernels/panel.h"

#include <algorithm>
#include <cstring>

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

// Blocks of `Halves` half numbers and `Groups` groups of four bytes.
template <size_t Halves, size_t Groups>
bool PackBlocks(const std::byte* const* rows, size_t count, size_t blocks, std::byte offset, std::byte* out) {
  constexpr size_t kFileBlock = 2 * Halves + 4 * Groups;
  bool finite = true;
  for (size_t block = 0; block < blocks; ++block, out += kPanelRows * kFileBlock) {
    for (size_t r = 0; r < count; ++r) {
      const std::byte* from = rows[r] + block * kFileBlock;
      for (size_t h = 0; h < Halves; ++h, from += 2) {
        finite &= IsFiniteHalf(from);
        std::memcpy(out + (h * kPanelRows + r) * 2, from, 2);
      }
      std::byte* values = out + Halves * kPanelRows * 2 + 4 * r;
      for (size_t g = 0; g < Groups; ++g, values += 4 * kPanelRows) {
        for (size_t i = 0; i < 4; ++i) values[i] = *from++ ^ offset;
      }
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
  if (count < kPanelRows) std::memset(out, 0, PanelBytes(type, columns));

  const size_t blocks = columns / kBlock;
  switch (type) {
    case WeightType::kF32:
      return PackValues<4, IsFiniteFloat>(row, count, columns, out);
    case WeightType::kF16:
      return PackValues<2, IsFiniteHalf>(row, count, columns, out);
    case WeightType::kBF16:
      return PackValues<2, IsFiniteBfloat>(row, count, columns, out);
    case WeightType::kQ8_0:
      return PackBlocks<1, 8>(row, count, blocks, std::byte{0x80}, out);
    case WeightType::kQ4_0:
      return PackBlocks<1, 4>(row, count, blocks, std::byte{0}, out);
    case WeightType::kQ4_1:
      return PackBlocks<2, 4>(row, count, blocks, std::byte{0}, out);
  }
  return false;
}

}  // namespace owml::kernels
