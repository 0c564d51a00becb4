// Dividing products among threads.
// A piece is several units of 32 outputs, which are two panels, and one block of the next matrix's input.
#include "backend/native/device/cpu_products.h"

#include <algorithm>

#include "backend/native/device/cpu_address.h"

namespace owml::native {
namespace {

// Units of outputs of a gate that are computed together for few tokens.
constexpr uint64_t kGateUnits = 8;

}  // namespace

ProductPieces::ProductPieces(uint64_t units, uint64_t tokens, ElementType activations, const Workers& workers)
    : units_(units), tokens_(tokens), parts_(PiecesOf(units, tokens, workers)) {
  // Weights are unpacked again for every block, so these are larger where there is something to unpack.
  const uint64_t together = activations == ElementType::kQ8 ? 256 : 128;
  blocks_ = std::max<uint64_t>(1, (tokens + together / 2) / together);
}

Tokens ProductPieces::TokensOf(uint32_t piece) const {
  const uint64_t block = piece / parts_, first = tokens_ * block / blocks_;
  return {first, tokens_ * (block + 1) / blocks_ - first};
}

void CpuProducts::Reserve(const GateUp& op) {
  const uint64_t rows = op.out.extent(0);
  const uint64_t few = std::min<uint64_t>(rows, kernels::kGemmTokens - 1);
  const uint64_t size = std::max(rows, few * kGateUnits) * kUnitRows;
  if (size <= thread_size_) return;
  memory_ = FilledArena("the gates of a batch", Arena::Pages::kUsual,
                        [&](Arena& arena) { gate_up_ = arena.Take<float>(workers_.size() * 2 * size); });
  thread_size_ = size;
}

std::span<const std::byte> Outputs::panels() const {
  const uint64_t bytes = kernels::PanelBytes(matrix.type, matrix.columns);
  return {Pointer<const std::byte>(matrix.panels + row / kernels::kPanelRows * bytes),
          (rows + kernels::kPanelRows - 1) / kernels::kPanelRows * bytes};
}

void Multiply(const kernels::Kernels& kernels, const Outputs& outputs, const Tensor& x, Tokens tokens, float* out,
              uint64_t out_stride, bool accumulate, std::span<const std::byte> next) {
  const bool blocks = x.type() == ElementType::kQ8;
  kernels.Matmul(outputs.matrix.type)({.panels = outputs.panels().data(),
                                       .rows = outputs.rows,
                                       .columns = outputs.matrix.columns,
                                       .q8 = blocks ? Blocks(x, tokens.first) : nullptr,
                                       .f32 = blocks ? nullptr : Floats(x, tokens.first),
                                       .tokens = tokens.count,
                                       .out = out,
                                       .out_stride = out_stride,
                                       .accumulate = accumulate,
                                       .next = next});
}

void MultiplyAndAdd(const kernels::Kernels& kernels, const Outputs& outputs, DeviceAddress bias, const Tensor& x,
                    Tokens tokens, float* out, uint64_t out_stride, std::span<const std::byte> next) {
  Multiply(kernels, outputs, x, tokens, out, out_stride, /*accumulate=*/false, next);
  for (uint64_t i = 0; bias && i < tokens.count; ++i) {
    kernels.add_scaled(out + i * out_stride, Pointer<const float>(bias) + outputs.row, 1, outputs.rows);
  }
}

// Pieces may begin in one matrix and end in another.
void CpuProducts::Run(const Job& job, uint64_t n) noexcept {
  uint64_t units = 0;
  for (const Operation& operation : job.operations) units += Units(std::get<MatMul>(operation).matrix.rows);
  const ProductPieces pieces(units, n, std::get<MatMul>(job.operations[0]).x.type(), workers_);
  workers_.Run(pieces.count(), [&](uint32_t piece, uint32_t) noexcept {
    const Tokens tokens = pieces.TokensOf(piece);
    uint64_t begin = pieces.FirstUnit(piece), end = pieces.EndUnit(piece);
    for (const Operation& operation : job.operations) {
      const MatMul& op = std::get<MatMul>(operation);
      const uint64_t count = Units(op.matrix.rows);
      if (begin < std::min(end, count)) {
        const uint64_t stop = std::min(end, count);
        const Outputs outputs = UnitsOf(op.matrix, begin, stop - begin);
        Multiply(kernels_, outputs, op.x, tokens, Floats(op.out, tokens.first) + outputs.row,
                 op.out.stride(0) / sizeof(float), op.accumulate, UnitsOf(op.matrix, stop, 1).panels());
      }
      if (end <= count) break;
      begin = begin > count ? begin - count : 0;
      end -= count;
    }
  });
}

// What is computed for 32 outputs stays in the cache of the processor that computes it. With few tokens reading is the
// limit: more outputs of one matrix, then of the other, since each change of place costs the processor's own fetching.
void CpuProducts::Run(const GateUp& op, uint64_t n) noexcept {
  const auto activate = op.activation == Activation::kGelu ? kernels_.gelu_multiply : kernels_.silu_multiply;
  const ProductPieces pieces(Units(op.gate.rows), n, op.gate_x.type(), workers_);
  const uint64_t together = n < kernels::kGemmTokens ? kGateUnits : 1;
  workers_.Run(pieces.count(), [&](uint32_t piece, uint32_t thread) noexcept {
    const Tokens tokens = pieces.TokensOf(piece);
    float* gate = gate_up_ + thread * 2 * thread_size_;
    float* up = gate + thread_size_;
    const uint64_t end = pieces.EndUnit(piece);
    for (uint64_t unit = pieces.FirstUnit(piece), count; unit < end; unit += count) {
      count = std::min(together, end - unit);
      const Outputs of_gate = UnitsOf(op.gate, unit, count), of_up = UnitsOf(op.up, unit, count);
      const uint64_t stride = count * kUnitRows;
      MultiplyAndAdd(kernels_, of_gate, op.gate_bias, op.gate_x, tokens, gate, stride, of_up.panels());
      MultiplyAndAdd(kernels_, of_up, op.up_bias, op.up_x, tokens, up, stride,
                     UnitsOf(op.gate, unit + count, 1).panels());
      for (uint64_t i = 0; i < tokens.count; ++i) {
        float* g = gate + i * stride;
        activate(g, up + i * stride, of_gate.rows);
        if (op.out.type() == ElementType::kQ8) {
          kernels_.quantize(g, stride, Blocks(op.out, tokens.first + i) + unit);
        } else {
          std::copy_n(g, of_gate.rows, Floats(op.out, tokens.first + i) + of_gate.row);
        }
      }
    }
  });
}

}  // namespace owml::native
