// Each thread keeps lists of its own, which are merged when all are done.
// See cpu_head.h.
#include "backend/native/device/cpu_head.h"

#include <algorithm>

#include "backend/native/best_list.h"
#include "backend/native/device/cpu_address.h"
#include "backend/native/device/cpu_products.h"

namespace owml::native {

void CpuHead::Reserve(const Head& op) {
  if (op.x.extent(0) <= rows_ && op.most_best <= most_best_) return;
  const uint64_t rows = std::max(rows_, op.x.extent(0));
  const uint32_t most_best = std::max(most_best_, op.most_best);
  memory_ = FilledArena("the head", Arena::Pages::kUsual, [&](Arena& arena) {
    tiles_ = arena.Take<float>(workers_.size() * rows * kUnitRows);
    best_ = arena.Take<TokenLogit>(workers_.size() * rows * most_best);
  });
  rows_ = rows;
  most_best_ = most_best;
}

void CpuHead::Run(const Head& op, const Step& step) noexcept {
  const std::span<const RowResult> results = step.results;
  const auto each_list = [&](auto&& work) {  // work(row, thread)
    for (uint64_t i = 0; i < results.size(); ++i) {
      for (uint32_t thread = 0; results[i].best && thread < workers_.size(); ++thread) work(i, thread);
    }
  };
  each_list([&](uint64_t i, uint32_t thread) { Clear(BestOf(thread, i, step.best_count)); });
  const uint64_t units = Units(op.matrix.rows);
  const uint32_t pieces = PiecesOf(units, results.size(), workers_);
  workers_.Run(pieces, [&](uint32_t piece, uint32_t thread) noexcept {
    float* tile = tiles_ + thread * rows_ * kUnitRows;
    for (uint64_t unit = units * piece / pieces; unit < units * (piece + 1) / pieces; ++unit) {
      const Outputs outputs = UnitsOf(op.matrix, unit, 1);
      const uint64_t first = outputs.row, count = outputs.rows;
      MultiplyAndAdd(kernels_, outputs, op.bias, op.x, {0, results.size()}, tile, kUnitRows,
                     UnitsOf(op.matrix, unit + 1, 1).panels());
      for (uint64_t i = 0; i < results.size(); ++i) {
        float* logits = tile + i * kUnitRows;
        if (op.scale != 1) kernels_.scale(logits, op.scale, count);
        if (op.cap != 0) kernels_.soft_cap(logits, op.cap, count);
        if (results[i].logits) {
          std::copy_n(logits, count, Pointer<float>(results[i].logits) + first);
        } else {
          Merge(BestOf(thread, i, step.best_count), {logits, count}, static_cast<int32_t>(first));
        }
      }
    }
  });
  each_list([&](uint64_t i, uint32_t thread) {
    const std::span<TokenLogit> list(Pointer<TokenLogit>(results[i].best), step.best_count);
    if (thread == 0) Clear(list);
    Merge(list, BestOf(thread, i, step.best_count));
  });
}

}  // namespace owml::native
