// Products of the CPU device: rows of matrices divided among the threads, 32 outputs at a time.
// Driven by cpu_device.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backend/native/arena.h"
#include "backend/native/device/workers.h"
#include "backend/native/graph/operation.h"
#include "kernels/kernels.h"

namespace owml::native {

// Outputs that are computed together: two panels, and one block of the next matrix's input.
inline constexpr uint64_t kUnitRows = 2 * kernels::kPanelRows;
static_assert(kUnitRows == kernels::kBlock);

constexpr uint64_t Units(uint64_t rows) { return (rows + kUnitRows - 1) / kUnitRows; }

// A few for each thread, more where each takes long, so that one slow thread holds nobody up.
inline uint32_t PiecesOf(uint64_t units, uint64_t tokens, const Workers& workers) {
  constexpr uint64_t kFew = 6, kMany = 64;
  return static_cast<uint32_t>(
      std::min<uint64_t>(units, workers.size() * (tokens < kernels::kGemmTokens ? kFew : kMany)));
}

// Rows of a step that are multiplied together.
struct Tokens {
  uint64_t first;
  uint64_t count;
};

// Pieces of a job of products: units of outputs for a block of tokens, whose activations stay in the cache of a
// processor while it goes through the rows. All rows come for the first block, then for the next: with as many blocks
// as threads each thread keeps its tokens from job to job.
class ProductPieces {
 public:
  ProductPieces(uint64_t units, uint64_t tokens, ElementType activations, const Workers& workers);

  uint32_t count() const { return static_cast<uint32_t>(blocks_) * parts_; }
  uint64_t FirstUnit(uint32_t piece) const { return units_ * (piece % parts_) / parts_; }
  uint64_t EndUnit(uint32_t piece) const { return units_ * (piece % parts_ + 1) / parts_; }
  Tokens TokensOf(uint32_t piece) const;

 private:
  uint64_t units_, tokens_, blocks_;
  uint32_t parts_;  // of the units
};

// Outputs of a matrix from `row` on, which begins a panel.
struct Outputs {
  const Matrix& matrix;
  uint64_t row;
  uint64_t rows;

  std::span<const std::byte> panels() const;
};

// The outputs of `count` units, or none behind the last.
inline Outputs UnitsOf(const Matrix& matrix, uint64_t unit, uint64_t count) {
  const uint64_t row = std::min(unit * kUnitRows, matrix.rows);
  return {matrix, row, std::min(count * kUnitRows, matrix.rows - row)};
}

// out [tokens, out_stride] (+)= x W. `next` is what the same thread reads then.
void Multiply(const kernels::Kernels& kernels, const Outputs& outputs, const Tensor& x, Tokens tokens, float* out,
              uint64_t out_stride, bool accumulate, std::span<const std::byte> next = {});

// out [tokens, out_stride] = x W + b; no bias where its address is 0.
void MultiplyAndAdd(const kernels::Kernels& kernels, const Outputs& outputs, DeviceAddress bias, const Tensor& x,
                    Tokens tokens, float* out, uint64_t out_stride, std::span<const std::byte> next);

class CpuProducts {
 public:
  CpuProducts(const kernels::Kernels& kernels, Workers& workers) : kernels_(kernels), workers_(workers) {}

  // Before the first Run of it. Throws E_OUTOFMEMORY.
  void Reserve(const GateUp& op);

  // A job of products for `n` rows, at least one.
  void Run(const Job& job, uint64_t n) noexcept;
  void Run(const GateUp& op, uint64_t n) noexcept;

 private:
  const kernels::Kernels& kernels_;
  Workers& workers_;
  float* gate_up_ = nullptr;  // [threads, 2, thread_size_]
  uint64_t thread_size_ = 0;  // floats
  Arena memory_;
};

}  // namespace owml::native
