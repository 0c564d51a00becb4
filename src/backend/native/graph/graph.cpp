// Recording.
// Forms of tensors are checked here, so that what is scheduled later fits together.
#include "backend/native/graph/graph.h"

#include <stdexcept>
#include <utility>

#include "kernels/quant_block.h"

namespace owml::native {
namespace {

// A mistake in a recording, never in a file.
void Require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(std::string("graph: ") + what);
}

}  // namespace

Tensor Graph::NewTensor(RowSet rows, ElementType type, uint64_t width) {
  const DeviceAddress address = kUnplaced | DeviceAddress{buffers_.size()} << kBufferShift;
  const Tensor tensor(type, {most_[static_cast<size_t>(rows)], width}, address);
  Require(tensor.bytes() < uint64_t{1} << kBufferShift && buffers_.size() < uint32_t{1} << (63 - kBufferShift),
          "a buffer does not fit its address");
  buffers_.push_back({tensor.bytes(), rows});
  changes_.push_back(0);
  return tensor;
}

RowSet Graph::RowsOf(const Tensor& x) const {
  Require(IsUnplaced(x.address()) && BufferOf(x.address()) < buffers_.size(), "a tensor is not of this graph");
  return buffers_[BufferOf(x.address())].rows;
}

void Graph::Record(const std::string& name, RowSet rows, Operation operation) {
  ForEachTensor(operation, [&](Tensor& tensor, Access access) {
    if (access != Access::kRead && IsUnplaced(tensor.address())) ++changes_[BufferOf(tensor.address())];
  });
  nodes_.push_back({std::move(operation), name, rows, layer_});
}

Tensor Graph::Embed(kernels::WeightType type, DeviceAddress table, uint64_t width, float factor) {
  const Tensor out = NewTensor(RowSet::kTokens, ElementType::kF32, width);
  Record("embed", RowSet::kTokens, native::Embed{type, table, factor, out});
  return out;
}

Graph::RopeAngles Graph::Angles(RowSet rows, DeviceAddress steps, uint64_t rotated, float magnitude, RopeOrder order) {
  const RopeAngles angles{NewTensor(rows, ElementType::kF32, rotated), NewTensor(rows, ElementType::kF32, rotated)};
  Record("angles", rows, native::Angles{steps, magnitude, order, angles.cosines, angles.sines});
  return angles;
}

Tensor Graph::RmsNorm(const Tensor& x, DeviceAddress weight, float epsilon) {
  Require(x.rank() == 2, "the norm of something else than rows");
  const Tensor out = NewTensor(RowsOf(x), ElementType::kF32, x.extent(1));
  Record("norm", RowsOf(x), native::RmsNorm{x, weight, epsilon, out});
  return out;
}

void Graph::Normalize(const Tensor& x, DeviceAddress weight, float epsilon) {
  Record("norm", RowsOf(x), native::RmsNorm{x, weight, epsilon, x});
}

Tensor Graph::QuantizedOnce(const Tensor& x) {
  Require(x.rank() == 2 && x.extent(1) % kernels::kBlock == 0, "quantized rows are whole blocks");
  QuantizedCopy& copy = quantized_[x.address()];
  const uint64_t changes = changes_[BufferOf(x.address())];
  if (!copy.blocks || copy.changes != changes) {
    copy = {changes, NewTensor(RowsOf(x), ElementType::kQ8, x.extent(1) / kernels::kBlock)};
    Record("quantize", RowsOf(x), Quantize{x, copy.blocks});
  }
  return copy.blocks;
}

Tensor Graph::ProductInput(const Tensor& x, const Matrix& matrix) {
  Require(x.type() == ElementType::kF32 && x.rank() == 2 && x.extent(1) == matrix.columns, "a product of other widths");
  return matrix.quantized() ? QuantizedOnce(x) : x;
}

Tensor Graph::MatMul(const std::string& name, const Tensor& x, const Matrix& matrix) {
  const Tensor input = ProductInput(x, matrix);
  const Tensor out = NewTensor(RowsOf(x), ElementType::kF32, matrix.rows);
  Record(name, RowsOf(x), native::MatMul{input, matrix, out, /*accumulate=*/false});
  return out;
}

void Graph::Head(const Tensor& x, const Matrix& matrix, DeviceAddress bias, float scale, float cap,
                 uint32_t most_best) {
  const Tensor input = ProductInput(x, matrix);
  Record("head", RowsOf(x), native::Head{input, matrix, bias, scale, cap, most_best});
}

Tensor Graph::TakeRows(const Tensor& x) {
  Require(RowsOf(x) == RowSet::kTokens && x.rank() == 2, "only rows of tokens are taken");
  const Tensor out = NewTensor(RowSet::kRead, x.type(), x.extent(1));
  Record("take rows", RowSet::kRead, native::TakeRows{x, out});
  return out;
}

void Graph::AddVector(const Tensor& x, DeviceAddress vector) {
  Record("bias", RowsOf(x), native::AddVector{x, vector});
}

void Graph::AddScaled(const Tensor& x, const Tensor& y, float factor) {
  Require(x.row_count() == y.row_count() && RowsOf(x) == RowsOf(y), "a sum of other widths");
  Record("add", RowsOf(x), native::AddScaled{x, y, factor});
}

void Graph::Scale(const Tensor& x, float factor) { Record("scale", RowsOf(x), native::Scale{x, factor}); }

void Graph::Rotate(const Tensor& x, const RopeAngles& angles, RopeOrder order) {
  Require(x.rank() == 3 && angles.cosines.extent(1) <= x.extent(2) && RowsOf(x) == RowsOf(angles.cosines),
          "a rotation of something else than heads");
  Record("rotate", RowsOf(x), native::Rotate{x, angles.cosines, angles.sines, order});
}

void Graph::Append(const Tensor& keys, const Tensor& values, const CacheLayer& cache) {
  Require(keys.rank() == 3 && values.rank() == 3 && RowsOf(keys) == RowSet::kTokens, "a cache of something else");
  Record("append", RowSet::kTokens, native::Append{keys, values, cache});
}

Tensor Graph::Attend(const Tensor& queries, const CacheLayer& cache, float cap) {
  Require(queries.rank() == 3, "attention of something else than heads");
  const Tensor out = NewTensor(RowsOf(queries), ElementType::kF32, queries.extent(1) * queries.extent(2));
  Record("attention", RowsOf(queries), native::Attend{queries, cache, cap, out.Split(1, queries.extent(2))});
  return out;
}

void Graph::Activate(const std::string& name, const Tensor& gate, const Tensor& up, Activation activation) {
  Require(gate.row_count() == up.row_count() && RowsOf(gate) == RowsOf(up), "a gate of another width");
  Record(name, RowsOf(gate), native::Activate{gate, up, activation});
}

}  // namespace owml::native
