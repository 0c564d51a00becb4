// Checked construction and views.
// Extents come from the metadata of files, so every product and sum is checked before it is used.
#include "backend/native/graph/tensor.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "kernels/kernels.h"

namespace owml::native {
namespace {

constexpr uint64_t kMaxBytes = INT64_MAX;

[[noreturn]] void Refuse(const std::string& sentence) { throw Error(E_INVALIDARG, "a tensor " + sentence); }

}  // namespace

uint64_t ElementBytes(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return sizeof(float);
    case ElementType::kQ8:
      return sizeof(kernels::Q8Block);
    case ElementType::kByte:
      return 1;
  }
  return 1;
}

Tensor::Tensor(ElementType type, std::initializer_list<uint64_t> extents, DeviceAddress address) : type_(type) {
  if (extents.size() == 0 || extents.size() > kMaxRank) {
    Refuse("has 1 to " + std::to_string(kMaxRank) + " dimensions, not " + std::to_string(extents.size()));
  }
  for (const uint64_t extent : extents) extents_[rank_++] = extent;
  uint64_t bytes = ElementBytes(type);
  for (uint32_t axis = rank_; axis-- > 0;) {
    strides_[axis] = bytes;
    if (extents_[axis] == 0) Refuse("has no elements along dimension " + std::to_string(axis));
    if (extents_[axis] > kMaxBytes / bytes) Refuse("is larger than addresses can count");
    bytes *= extents_[axis];
  }
  *this = At(address);
}

uint64_t Tensor::count() const {
  uint64_t count = 1;
  for (uint32_t axis = 0; axis < rank_; ++axis) count *= extents_[axis];
  return count;
}

uint64_t Tensor::bytes() const {
  uint64_t last = ElementBytes(type_);
  for (uint32_t axis = 0; axis < rank_; ++axis) last += (extents_[axis] - 1) * strides_[axis];
  return last;
}

bool Tensor::contiguous() const {
  uint64_t bytes = ElementBytes(type_);
  for (uint32_t axis = rank_; axis-- > 0; bytes *= extents_[axis]) {
    if (extents_[axis] > 1 && strides_[axis] != bytes) return false;
  }
  return true;
}

void Tensor::RequireAxis(uint32_t axis) const {
  if (axis >= rank_) {
    Refuse("of " + std::to_string(rank_) + " dimensions has none of number " + std::to_string(axis));
  }
}

Tensor Tensor::Slice(uint32_t axis, uint64_t first, uint64_t count) const {
  RequireAxis(axis);
  if (count == 0 || first > extents_[axis] || count > extents_[axis] - first) {
    Refuse("of extent " + std::to_string(extents_[axis]) + " has no part of " + std::to_string(count) + " from " +
           std::to_string(first));
  }
  Tensor part = *this;
  part.address_ += first * strides_[axis];
  part.extents_[axis] = count;
  return part;
}

Tensor Tensor::Transpose(uint32_t a, uint32_t b) const {
  RequireAxis(a);
  RequireAxis(b);
  Tensor turned = *this;
  std::swap(turned.extents_[a], turned.extents_[b]);
  std::swap(turned.strides_[a], turned.strides_[b]);
  return turned;
}

Tensor Tensor::Split(uint32_t axis, uint64_t inner) const {
  RequireAxis(axis);
  if (rank_ == kMaxRank) Refuse("has at most " + std::to_string(kMaxRank) + " dimensions");
  if (inner == 0 || extents_[axis] % inner != 0) {
    Refuse("of extent " + std::to_string(extents_[axis]) + " has no whole parts of " + std::to_string(inner));
  }
  Tensor split = *this;
  for (uint32_t i = rank_; i > axis + 1; --i) {
    split.extents_[i] = extents_[i - 1];
    split.strides_[i] = strides_[i - 1];
  }
  ++split.rank_;
  split.extents_[axis] = extents_[axis] / inner;
  split.strides_[axis] = strides_[axis] * inner;
  split.extents_[axis + 1] = inner;
  split.strides_[axis + 1] = strides_[axis];
  return split;
}

Tensor Tensor::Pick(uint32_t axis, uint64_t index) const {
  Tensor part = Slice(axis, index, 1);
  if (rank_ == 1) Refuse("has at least one dimension");
  for (uint32_t i = axis; i + 1 < rank_; ++i) {
    part.extents_[i] = part.extents_[i + 1];
    part.strides_[i] = part.strides_[i + 1];
  }
  --part.rank_;
  return part;
}

Tensor Tensor::At(DeviceAddress address) const {
  if (rank_ != 0 && address > UINT64_MAX - bytes()) Refuse("ends behind the last address");
  Tensor moved = *this;
  moved.address_ = address;
  return moved;
}

}  // namespace owml::native
