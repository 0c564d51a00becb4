// Shapes over one piece of memory.
#include "backend/native/graph/tensor.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "kernels/kernels.h"

namespace owml::native {
namespace {

// A tensor over floats that count up, as a device sees it.
struct Numbers {
  explicit Numbers(uint64_t count) : values(count) {
    for (uint64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  }
  DeviceAddress address() const { return reinterpret_cast<DeviceAddress>(values.data()); }
  std::vector<float> values;
};

float At(const Tensor& t, std::initializer_list<uint64_t> index) {
  DeviceAddress at = t.address();
  uint32_t axis = 0;
  for (const uint64_t i : index) at += i * t.stride(axis++);
  return *reinterpret_cast<const float*>(at);
}

HRESULT CodeOf(auto&& make) {
  try {
    make();
  } catch (const Error& error) {
    return error.code();
  }
  return S_OK;
}

TEST(TensorTest, TheLastDimensionIsTheFastest) {
  const Numbers n(24);
  const Tensor t(ElementType::kF32, {2, 3, 4}, n.address());
  EXPECT_EQ(At(t, {1, 2, 3}), 23.0f);
  EXPECT_EQ(At(t, {1, 0, 2}), 14.0f);
  EXPECT_EQ(t.count(), 24u);
  EXPECT_EQ(t.bytes(), 96u);
  EXPECT_EQ(t.row_count(), 12u);
  EXPECT_TRUE(t.contiguous());
}

TEST(TensorTest, ASliceSharesTheMemory) {
  const Numbers n(24);
  const Tensor part = Tensor(ElementType::kF32, {4, 6}, n.address()).Slice(0, 1, 2).Slice(1, 2, 3);
  EXPECT_EQ(part.extent(0), 2u);
  EXPECT_EQ(part.extent(1), 3u);
  EXPECT_EQ(At(part, {0, 0}), 8.0f);
  EXPECT_EQ(At(part, {1, 2}), 16.0f);
  EXPECT_FALSE(part.contiguous());
  EXPECT_EQ(part.bytes(), (16 - 8 + 1) * sizeof(float));
}

TEST(TensorTest, ATransposeReadsTheSameNumbersInOtherOrder) {
  const Numbers n(24);
  const Tensor t(ElementType::kF32, {2, 3, 4}, n.address());
  const Tensor turned = t.Transpose(0, 1);
  for (uint64_t i = 0; i < 2; ++i) {
    for (uint64_t j = 0; j < 3; ++j) EXPECT_EQ(At(turned, {j, i, 1}), At(t, {i, j, 1}));
  }
  EXPECT_FALSE(turned.contiguous());
  EXPECT_TRUE(turned.Transpose(1, 0).contiguous());
}

TEST(TensorTest, HeadsOfARowAreASplitOfIt) {
  const Numbers n(48);
  const Tensor heads = Tensor(ElementType::kF32, {2, 24}, n.address()).Split(1, 8);  // 3 heads of 8
  EXPECT_EQ(heads.rank(), 3u);
  EXPECT_EQ(heads.extent(1), 3u);
  EXPECT_EQ(heads.extent(2), 8u);
  EXPECT_EQ(At(heads, {1, 2, 5}), 24.0f + 16 + 5);
  const Tensor groups = Tensor(ElementType::kF32, {4, 12}, n.address()).Split(0, 2);
  EXPECT_EQ(At(groups, {1, 1, 3}), 39.0f);
}

TEST(TensorTest, OneIndexOfADimensionIsATensorWithoutIt) {
  const Numbers n(24);
  const Tensor part = Tensor(ElementType::kF32, {2, 3, 4}, n.address()).Pick(1, 2);
  EXPECT_EQ(part.rank(), 2u);
  EXPECT_EQ(At(part, {0, 1}), 9.0f);
  EXPECT_EQ(At(part, {1, 3}), 23.0f);
  EXPECT_EQ(CodeOf([&] { Tensor(ElementType::kF32, {3}).Pick(0, 1); }), E_INVALIDARG);
}

TEST(TensorTest, ABlockOfEightBitActivationsIsOneElement) {
  const Tensor t(ElementType::kQ8, {3, 2});
  EXPECT_EQ(t.bytes(), 6 * sizeof(kernels::Q8Block));
  EXPECT_EQ(t.Slice(0, 1, 1).address(), 2 * sizeof(kernels::Q8Block));
}

TEST(TensorTest, WhatCannotBeIsRefused) {
  const Tensor t(ElementType::kF32, {4, 6});
  const auto refused = [](auto&& make) { return CodeOf(make) == E_INVALIDARG; };
  EXPECT_TRUE(refused([] { Tensor(ElementType::kF32, {}); }));
  EXPECT_TRUE(refused([] { Tensor(ElementType::kF32, {1, 2, 3, 4, 5}); }));
  EXPECT_TRUE(refused([] { Tensor(ElementType::kF32, {3, 0}); }));
  EXPECT_TRUE(refused([] { Tensor(ElementType::kF32, {UINT64_MAX / 8, 16}); }));
  EXPECT_TRUE(refused([] { Tensor(ElementType::kF32, {1024}, UINT64_MAX - 100); }));
  EXPECT_TRUE(refused([&] { t.Slice(2, 0, 1); }));
  EXPECT_TRUE(refused([&] { t.Slice(0, 2, 3); }));
  EXPECT_TRUE(refused([&] { t.Slice(0, 5, UINT64_MAX); }));
  EXPECT_TRUE(refused([&] { t.Slice(0, 1, 0); }));
  EXPECT_TRUE(refused([&] { t.Transpose(0, 2); }));
  EXPECT_TRUE(refused([&] { t.Split(1, 4); }));
  EXPECT_TRUE(refused([&] { t.Split(1, 0); }));
  EXPECT_TRUE(refused([] { Tensor(ElementType::kF32, {1, 2, 3, 4}).Split(3, 2); }));
}

}  // namespace
}  // namespace owml::native
