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

// Outputs of a matrix from `row` on, which begins a panel.
struct Outputs {
  const Matrix& matrix;
  uint64_t row;
  uint64_t rows;

  std::span<const std::byte> panels() const;
};

// The outputs of a unit, or none behind the last.
inline Outputs UnitOf(const Matrix& matrix, uint64_t unit) {
  const uint64_t row = std::min(unit * kUnitRows, matrix.rows);
  return {matrix, row, std::min(kUnitRows, matrix.rows - row)};
}

// out [n, out_stride] (+)= x W. `next` is what the same thread reads then.
void Multiply(const kernels::Kernels& kernels, const Outputs& outputs, const Tensor& x, uint64_t n, float* out,
              uint64_t out_stride, bool accumulate, std::span<const std::byte> next = {});

// out [n, 32] = x W + b for the outputs of a unit; no bias where its address is 0.
void MultiplyUnit(const kernels::Kernels& kernels, const Outputs& unit, DeviceAddress bias, const Tensor& x, uint64_t n,
                  float* out, std::span<const std::byte> next);

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
  float* gate_up_ = nullptr;  // [threads, 2, n, 32]
  uint64_t thread_rows_ = 0;  // n of gate_up_
  Arena memory_;
};

}  // namespace owml::native
