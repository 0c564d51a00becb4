// Products and attention; what goes row by row counts as nothing.
// Neighbours in a sequence read what they see of the cache together.
#include "backend/native/work.h"

#include <algorithm>

#include "kernels/panel.h"

namespace owml::native {
namespace {

void AddProduct(const Matrix& matrix, uint64_t rows, Work* work) {
  work->arithmetic += 2 * rows * matrix.rows * matrix.columns;
  work->bytes += kernels::PanelCount(matrix.rows) * kernels::PanelBytes(matrix.type, matrix.columns);
}

void AddAttention(const Attend& op, std::span<const Row> rows, Work* work) {
  const uint64_t heads = op.queries.extent(1), width = op.queries.extent(2), window = op.cache.window;
  const uint64_t position_bytes =
      op.cache.keys.extent(1) * (kernels::KeyBytes(op.cache.type, width) + kernels::ValueBytes(op.cache.type, width));
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint64_t length = rows[i].position + 1;
    const uint64_t seen = window ? std::min<uint64_t>(length, window) : length;
    work->arithmetic += 4 * heads * width * seen;
    work->bytes += (i > 0 && Follows(rows[i], rows[i - 1]) ? 1 : seen) * position_bytes;
  }
}

}  // namespace

Work WorkOf(const Job& job, const Step& step) {
  Work work;
  const std::span<const Row> rows = step.rows(job.rows);
  for (const Operation& operation : job.operations) {
    if (const auto* product = std::get_if<MatMul>(&operation)) AddProduct(product->matrix, rows.size(), &work);
    if (const auto* gates = std::get_if<GateUp>(&operation)) {
      AddProduct(gates->gate, rows.size(), &work);
      AddProduct(gates->up, rows.size(), &work);
    }
    if (const auto* head = std::get_if<Head>(&operation)) AddProduct(head->matrix, rows.size(), &work);
    if (const auto* attend = std::get_if<Attend>(&operation)) AddAttention(*attend, rows, &work);
  }
  return work;
}

}  // namespace owml::native
