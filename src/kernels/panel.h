// Weights in the order in which kernels read them: panels of 16 rows, interleaved so that one vector holds all rows at
// one place of their width. Packed once at load, never changed; takes as many bytes as the rows in the file.
//
// A panel goes through the width from left to right:
//   F32, F16, BF16   for each column: 16 values, one of each row
//   Q8_0             for each block: 16 half scales; 8 groups of 4 columns: 64 bytes, 4 of each row, value + 128
//   Q4_0, Q4_1       for each block: 16 half scales, (Q4_1) 16 half minima; 4 groups: 64 bytes, 4 of each row, where
//   the
//                    low nibbles are columns 4g to 4g+3 and the high nibbles columns 16+4g to 16+4g+3
// Rows that fill up the last panel are zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/weight_type.h"

namespace owml::kernels {

inline constexpr size_t kPanelRows = 16;

constexpr size_t PanelCount(size_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }
constexpr size_t PanelBytes(WeightType type, size_t columns) { return kPanelRows * RowBytes(type, columns); }

// Packs rows 16 * panel to 16 * panel + 15 of a matrix of `rows` rows. Returns false, with `out` unspecified, when a
// scale, a minimum or (float types) a value is NaN or infinite.
bool PackPanel(WeightType type, const std::byte* matrix, size_t rows, size_t columns, size_t panel, std::byte* out);

}  // namespace owml::kernels
