// Packing with all threads.
// The tensor's bytes were checked against its shape by the GGUF reader.
#include "backend/native/packed_matrix.h"

#include <atomic>
#include <string>

#include "formats/bad_data.h"

namespace owml::native {

using kernels::WeightType;

namespace {

[[noreturn]] void ThrowNotFinite(const TensorPart& rows, const std::string& label) {
  ThrowBadData(label, "tensor " + Quoted(rows.tensor->name) + " holds a weight or scale that is no finite number");
}

}  // namespace

std::optional<WeightType> WeightTypeOf(GgmlType type) {
  switch (type) {
    case GgmlType::kF32:
      return WeightType::kF32;
    case GgmlType::kF16:
      return WeightType::kF16;
    case GgmlType::kBF16:
      return WeightType::kBF16;
    case GgmlType::kQ8_0:
      return WeightType::kQ8_0;
    case GgmlType::kQ4_0:
      return WeightType::kQ4_0;
    case GgmlType::kQ4_1:
      return WeightType::kQ4_1;
    case GgmlType::kQ5_0:
      return WeightType::kQ5_0;
    case GgmlType::kQ5_1:
      return WeightType::kQ5_1;
    case GgmlType::kQ2_K:
      return WeightType::kQ2_K;
    case GgmlType::kQ3_K:
      return WeightType::kQ3_K;
    case GgmlType::kQ4_K:
      return WeightType::kQ4_K;
    case GgmlType::kQ5_K:
      return WeightType::kQ5_K;
    case GgmlType::kQ6_K:
      return WeightType::kQ6_K;
    case GgmlType::kIQ4_NL:
      return WeightType::kIQ4_NL;
    case GgmlType::kMXFP4:
      return WeightType::kMXFP4;
    default:
      return std::nullopt;
  }
}

PackedMatrix UnpackedMatrix(const TensorPart& rows) {
  PackedMatrix matrix;
  matrix.type = WeightTypeOf(rows.tensor->type).value();
  matrix.columns = rows.tensor->dims[0];
  matrix.rows = rows.count;
  return matrix;
}

void Pack(const TensorPart& rows, const std::string& label, ThreadPool& pool, std::byte* memory, PackedMatrix* matrix) {
  constexpr uint32_t kPanelsAtOnce = 8;
  const size_t panels = kernels::PanelCount(matrix->rows);
  const std::byte* from = rows.tensor->data.data() + rows.first * kernels::RowBytes(matrix->type, matrix->columns);
  std::atomic<bool> finite{true};
  pool.Run(static_cast<uint32_t>((panels + kPanelsAtOnce - 1) / kPanelsAtOnce), [&](uint32_t piece, uint32_t) noexcept {
    for (size_t p = size_t{piece} * kPanelsAtOnce; p < panels && p < size_t{piece + 1} * kPanelsAtOnce; ++p) {
      if (!kernels::PackPanel(matrix->type, from, matrix->rows, matrix->columns, p,
                              memory + p * matrix->panel_bytes())) {
        finite = false;
      }
    }
  });
  if (!finite) ThrowNotFinite(rows, label);
  matrix->panels = memory;
}

void CheckFinite(const TensorPart& rows, const std::string& label, ThreadPool& pool) {
  constexpr uint64_t kRowsAtOnce = 64;
  const PackedMatrix matrix = UnpackedMatrix(rows);
  const size_t row_bytes = kernels::RowBytes(matrix.type, matrix.columns);
  const std::byte* from = rows.tensor->data.data() + rows.first * row_bytes;
  std::atomic<bool> finite{true};
  pool.Run(static_cast<uint32_t>((rows.count + kRowsAtOnce - 1) / kRowsAtOnce), [&](uint32_t piece, uint32_t) noexcept {
    const uint64_t begin = piece * kRowsAtOnce;
    for (uint64_t row = begin; row < rows.count && row < begin + kRowsAtOnce; ++row) {
      if (!kernels::IsFiniteRow(matrix.type, from + row * row_bytes, matrix.columns)) finite = false;
    }
  });
  if (!finite) ThrowNotFinite(rows, label);
}

}  // namespace owml::native
