// The head of the CPU device: rows of logits, or only the highest of each, which are found while the vocabulary goes
// by, 32 tokens of it at a time. Driven by cpu_device.cpp.
#pragma once

#include <span>

#include "backend/best_tokens.h"
#include "backend/native/arena.h"
#include "backend/native/device/step.h"
#include "backend/native/device/workers.h"
#include "kernels/kernels.h"

namespace owml::native {

class CpuHead {
 public:
  CpuHead(const kernels::Kernels& kernels, Workers& workers) : kernels_(kernels), workers_(workers) {}

  // Before the first Run of it. Throws E_OUTOFMEMORY.
  void Reserve(const Head& op);
  // For the rows that are read, at least one.
  void Run(const Head& op, const Step& step) noexcept;

 private:
  std::span<TokenLogit> BestOf(uint32_t thread, uint64_t row, uint32_t count) const {
    return {best_ + (thread * rows_ + row) * most_best_, count};
  }

  const kernels::Kernels& kernels_;
  Workers& workers_;
  uint64_t rows_ = 0;  // most that there is room for
  uint32_t most_best_ = 0;
  float* tiles_ = nullptr;      // [threads, rows, 32]
  TokenLogit* best_ = nullptr;  // [threads, rows, most that are asked for]
  Arena memory_;
};

}  // namespace owml::native
