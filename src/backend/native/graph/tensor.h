// An array of up to four dimensions in the memory of a device: element type, extents, byte strides and address. A
// value: slices, transposes and splits are other values over the same memory. Recorded by graphs, followed by devices.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

namespace owml::native {

// A place in the memory of a device. Only the device itself may take it for a pointer.
using DeviceAddress = uint64_t;

// kQ8: a kernels::Q8Block, 32 activations in one element. kByte: what only kernels can tell apart.
enum class ElementType : uint8_t { kF32, kQ8, kByte };

uint64_t ElementBytes(ElementType type);

class Tensor {
 public:
  static constexpr uint32_t kMaxRank = 4;

  // Nothing: rank 0.
  Tensor() = default;

  // Without gaps, the last dimension fastest. Throws E_INVALIDARG for no or more than four dimensions, an empty one,
  // and for a size that addresses cannot count.
  Tensor(ElementType type, std::initializer_list<uint64_t> extents, DeviceAddress address = 0);

  ElementType type() const { return type_; }
  uint32_t rank() const { return rank_; }
  uint64_t extent(uint32_t axis) const { return extents_[axis]; }
  uint64_t stride(uint32_t axis) const { return strides_[axis]; }  // bytes
  DeviceAddress address() const { return address_; }
  explicit operator bool() const { return rank_ != 0; }

  uint64_t count() const;  // elements
  uint64_t bytes() const;  // from the address to behind the last element
  bool contiguous() const;
  // Elements behind one index of the first dimension.
  uint64_t row_count() const { return count() / extents_[0]; }

  DeviceAddress at(uint64_t i, uint64_t j = 0) const { return address_ + i * strides_[0] + j * strides_[1]; }

  // Views; all throw E_INVALIDARG for an axis or a range that is not there.
  Tensor Slice(uint32_t axis, uint64_t first, uint64_t count) const;
  Tensor Transpose(uint32_t a, uint32_t b) const;
  // [.., n, ..] as [.., n / inner, inner, ..]; `inner` divides n.
  Tensor Split(uint32_t axis, uint64_t inner) const;
  // What is at one index of a dimension, without that dimension; there must be another.
  Tensor Pick(uint32_t axis, uint64_t index) const;
  // The same form elsewhere.
  Tensor At(DeviceAddress address) const;

 private:
  void RequireAxis(uint32_t axis) const;

  std::array<uint64_t, kMaxRank> extents_{};
  std::array<uint64_t, kMaxRank> strides_{};
  DeviceAddress address_ = 0;
  uint32_t rank_ = 0;
  ElementType type_ = ElementType::kF32;
};

}  // namespace owml::native
