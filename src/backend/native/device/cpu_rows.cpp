// One function for each operation, over the kernels.
// See operation.h for shapes.
#include "backend/native/device/cpu_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/native/device/cpu_address.h"

namespace owml::native {
namespace {

constexpr uint32_t kRowsAtOnce = 8;

class RowOperations {
 public:
  RowOperations(const kernels::Kernels& kernels, const Step& step, RowSet set)
      : kernels_(kernels), step_(step), rows_(step.rows(set)) {}

  void Do(const Embed& op, uint32_t i) const {
    const uint64_t width = op.out.extent(1);
    const uint64_t row_bytes = kernels::RowBytes(op.type, width);
    kernels::DequantizeRow(op.type,
                           Pointer<const std::byte>(op.table + static_cast<uint64_t>(rows_[i].token) * row_bytes),
                           width, Floats(op.out, i));
    if (op.factor != 1) kernels_.scale(Floats(op.out, i), op.factor, width);
  }

  void Do(const Angles& op, uint32_t i) const {
    const auto* steps = Pointer<const double>(op.steps);
    float *cosines = Floats(op.cosines, i), *sines = Floats(op.sines, i);
    for (uint64_t pair = 0; pair < op.cosines.extent(1) / 2; ++pair) {
      const double angle = static_cast<double>(rows_[i].position) * steps[pair];
      const float cosine = op.magnitude * static_cast<float>(std::cos(angle));
      const float sine = op.magnitude * static_cast<float>(std::sin(angle));
      if (op.order == RopeOrder::kHalves) {
        cosines[pair] = cosine;
        sines[pair] = sine;
      } else {
        cosines[2 * pair] = cosines[2 * pair + 1] = cosine;
        sines[2 * pair] = -sine;
        sines[2 * pair + 1] = sine;
      }
    }
  }

  void Do(const RmsNorm& op, uint32_t i) const {
    const auto* weight = Pointer<const float>(op.weight);
    if (op.x.rank() == 2) {
      kernels_.rms_norm(Floats(op.x, i), weight, op.x.extent(1), op.epsilon, Floats(op.out, i));
      return;
    }
    for (uint64_t head = 0; head < op.x.extent(1); ++head) {
      kernels_.rms_norm(Pointer<float>(op.x.at(i, head)), weight, op.x.extent(2), op.epsilon,
                        Pointer<float>(op.out.at(i, head)));
    }
  }

  void Do(const Quantize& op, uint32_t i) const {
    kernels_.quantize(Floats(op.x, i), op.x.extent(1), Blocks(op.out, i));
  }

  void Do(const AddVector& op, uint32_t i) const {
    kernels_.add_scaled(Floats(op.x, i), Pointer<const float>(op.vector), 1, op.x.row_count());
  }

  void Do(const AddScaled& op, uint32_t i) const {
    kernels_.add_scaled(Floats(op.x, i), Floats(op.y, i), op.factor, op.x.row_count());
  }

  void Do(const Scale& op, uint32_t i) const { kernels_.scale(Floats(op.x, i), op.factor, op.x.row_count()); }

  void Do(const Rotate& op, uint32_t i) const {
    const auto rotate = op.order == RopeOrder::kHalves ? kernels_.rotate_halves : kernels_.rotate_pairs;
    for (uint64_t head = 0; head < op.x.extent(1); ++head) {
      rotate(Pointer<float>(op.x.at(i, head)), Floats(op.cosines, i), Floats(op.sines, i), op.cosines.extent(1));
    }
  }

  void Do(const Append& op, uint32_t i) const {
    const auto type = static_cast<size_t>(op.cache.type);
    const uint64_t position = rows_[i].position, in_segment = position % kernels::kAttentionSegment;
    const uint32_t slot = rows_[i].slot;
    const uint64_t width = op.keys.extent(2);
    for (uint64_t head = 0; head < op.keys.extent(1); ++head) {
      kernels_.store_key[type](Pointer<const float>(op.keys.at(i, head)), width,
                               Pointer<std::byte>(op.cache.KeysFrom(slot, head, position)), in_segment);
      kernels_.store_value[type](Pointer<const float>(op.values.at(i, head)), width,
                                 Pointer<std::byte>(op.cache.ValuesFrom(slot, head, position)), in_segment);
    }
  }

  void Do(const TakeRows& op, uint32_t i) const {
    std::memcpy(Pointer<std::byte>(op.out.at(i)), Pointer<const std::byte>(op.x.at(step_.read_from[i])),
                op.out.row_count() * ElementBytes(op.out.type()));
  }

  void Do(const Activate& op, uint32_t i) const {
    const auto activate = op.activation == Activation::kGelu ? kernels_.gelu_multiply : kernels_.silu_multiply;
    activate(Floats(op.gate, i), Floats(op.up, i), op.gate.row_count());
  }

 private:
  const kernels::Kernels& kernels_;
  const Step& step_;
  std::span<const Row> rows_;
};

}  // namespace

void RunRows(const Job& job, const Step& step, const kernels::Kernels& kernels, Workers& workers) noexcept {
  const RowOperations operations(kernels, step, job.rows);
  const auto count = static_cast<uint32_t>(step.rows(job.rows).size());
  workers.Run((count + kRowsAtOnce - 1) / kRowsAtOnce, [&](uint32_t piece, uint32_t) noexcept {
    const uint32_t begin = piece * kRowsAtOnce, end = std::min(count, begin + kRowsAtOnce);
    for (uint32_t row = begin; row < end; ++row) {
      for (const Operation& operation : job.operations) {
        std::visit(
            [&]<class Op>(const Op& op) {
              if constexpr (kRowWise<Op>) operations.Do(op, row);
            },
            operation);
      }
    }
  });
}

}  // namespace owml::native
