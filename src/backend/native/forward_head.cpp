// The head of the forward pass: rows of logits, or only the highest of each, which are found while the vocabulary goes
// by.
#include <algorithm>

#include "backend/native/best_list.h"
#include "backend/native/forward.h"

namespace owml::native {

// Norm(x) We, for 32 tokens of the vocabulary at a time.
void Forward::Head(uint32_t n) {
  if (n == 0) return;
  Normalize(weights_->output_norm(), n, weights_->head().quantized());
  const auto each_list = [&](auto&& work) {  // work(row, thread)
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t thread = 0; rows_[i].best && thread < pool_.size(); ++thread) work(i, thread);
    }
  };
  each_list([&](uint32_t i, uint32_t thread) { Clear(BestOf(thread, i)); });
  const size_t units = Units(p_.vocabulary);
  const uint32_t pieces = PiecesOf(units);
  pool_.Run(pieces, [&](uint32_t piece, uint32_t thread) noexcept {
    float* tile = gate_up_ + size_t{thread} * 2 * settings_.batch_size * kUnitRows;
    for (size_t unit = units * piece / pieces; unit < units * (piece + 1) / pieces; ++unit) {
      const size_t first = unit * kUnitRows;
      const size_t count = std::min<size_t>(kUnitRows, p_.vocabulary - first);
      MultiplyUnit(weights_->head(), weights_->head_bias(), n, first, count, tile);
      for (uint32_t i = 0; i < n; ++i) {
        float* logits = tile + i * kUnitRows;
        if (p_.logit_scale != 1) kernels_.scale(logits, p_.logit_scale, count);
        if (p_.logit_cap != 0) kernels_.soft_cap(logits, p_.logit_cap, count);
        if (rows_[i].logits) {
          std::copy_n(logits, count, rows_[i].logits + first);
        } else {
          Merge(BestOf(thread, i), {logits, count}, static_cast<int32_t>(first));
        }
      }
    }
  });
  each_list([&](uint32_t i, uint32_t thread) {
    const std::span<TokenLogit> list(rows_[i].best, best_count_);
    if (thread == 0) Clear(list);
    Merge(list, BestOf(thread, i));
  });
}

}  // namespace owml::native
