// Weights in the order in which kernels read them: panels of 16 rows, interleaved so that one vector holds all rows at
// one place of their width. Packed once at load, never changed; takes the bytes of the file but for scales of six or
// eight bits, which become bytes or halves.
//
// A panel goes through the width from left to right. F32, F16: for each column, 16 values, one of each row. BF16: for
// each two columns, 16 pairs of values; a missing last column is zero. The quantized types: for each block of the file
//   16 scales in halves, and with a minimum 16 of these
//   for each sub-block 16 scales in bytes; then for each 16 minima, which with two-bit weights are the upper halves of
//   the scales' bytes instead
//   for each 32 columns, planes of 64 bytes, 4 of each row. With group G the columns 4G to 4G+3:
//     4 planes of low nibbles: group g in the lower half, group 4 + g in the upper (4, 5 and 6 bits)
//     2 planes of pairs of bits: four groups each (2 and 3 bits: the lowest bits; 6 bits: the highest)
//     1 plane of highest bits: eight groups (3 and 5 bits)
//     8 planes of bytes (8 bits)
// Rows that fill up the last panel are zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/quant_block.h"
#include "kernels/weight_type.h"

namespace owml::kernels {

inline constexpr size_t kPanelRows = 16;

// Counts up with every change of the layout or of the order in which a model's weights are packed: files with packed
// weights of another version are not used.
inline constexpr int kPanelLayoutVersion = 2;

inline constexpr size_t kPlaneBytes = 4 * kPanelRows;

// Of 32 columns.
constexpr size_t PlaneCount(int bits) { return bits == 8 ? 8 : bits / 4 * 4 + bits % 4 / 2 * 2 + bits % 2; }

// Scales and minima in front of the planes of a block.
constexpr size_t PanelHeadBytes(WeightType type) {
  const QuantForm form = FormOf(type);
  const size_t bytes = form.scales ? form.subs() * (form.minimum && !form.pairs() ? 2 : 1) : 0;
  return kPanelRows * ((form.minimum ? 4 : 2) + bytes);
}

constexpr size_t PanelBlockBytes(WeightType type) {
  if (!IsQuantized(type)) return kPanelRows * BlockBytes(type);
  const QuantForm form = FormOf(type);
  return PanelHeadBytes(type) + form.values / kBlock * PlaneCount(form.bits) * kPlaneBytes;
}

constexpr size_t PanelCount(size_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }
constexpr size_t PanelBytes(WeightType type, size_t columns) {
  if (type == WeightType::kBF16) columns = (columns + 1) / 2 * 2;
  return columns / BlockValues(type) * PanelBlockBytes(type);
}

// Packs rows 16 * panel to 16 * panel + 15 of a matrix of `rows` rows. Returns false, with `out` unspecified, when a
// scale, a minimum or (float types) a value is NaN or infinite.
bool PackPanel(WeightType type, const std::byte* matrix, size_t rows, size_t columns, size_t panel, std::byte* out);

// True when no scale, minimum or (float types) value of a row is NaN or infinite.
bool IsFiniteRow(WeightType type, const std::byte* row, size_t columns);

}  // namespace owml::kernels
