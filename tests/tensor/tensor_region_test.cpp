// CreateTensorFromRegion against an independent element-by-element copy.
// Bounds, overflow, packed types, strangers and locks.
#include <numeric>
#include <random>

#include "tensor/stranger_tensor.h"
#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

class TensorRegion : public TensorTest {
 protected:
  HRESULT Region(IWinMLTensor* source, std::vector<UINT32> starts, std::vector<UINT32> extents,
                 ComPtr<IWinMLTensor>& region) {
    return raw_->CreateTensorFromRegion(source, starts.data(), extents.data(), static_cast<UINT32>(starts.size()),
                                        region.ReleaseAndGetAddressOf());
  }
};

// Walks every index of the region; the slow way round.
std::vector<int32_t> Expected(const std::vector<int32_t>& source, const std::vector<UINT64>& dims,
                              const std::vector<UINT32>& starts, const std::vector<UINT32>& extents) {
  std::vector<int32_t> values;
  const uint64_t count = std::accumulate(extents.begin(), extents.end(), uint64_t{1}, std::multiplies<>());
  for (uint64_t n = 0; n < count; ++n) {
    uint64_t rest = n, offset = 0, pitch = 1;
    for (size_t axis = dims.size(); axis-- > 0;) {
      offset += (starts[axis] + rest % extents[axis]) * pitch;
      rest /= extents[axis];
      pitch *= dims[axis];
    }
    values.push_back(source[offset]);
  }
  return values;
}

TEST_F(TensorRegion, EqualsAnElementByElementCopyForRandomShapes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t rank = random() % 5;
    std::vector<UINT64> dims;
    std::vector<UINT32> starts, extents;
    uint64_t count = 1;
    for (size_t axis = 0; axis < rank; ++axis) {
      const uint32_t extent = 1 + random() % 6;
      dims.push_back(extent);
      const bool whole = random() % 3 == 0;
      starts.push_back(whole ? 0 : random() % extent);
      extents.push_back(whole ? extent : 1 + random() % (extent - starts.back()));
      count *= extent;
    }
    std::vector<int32_t> values(count);
    std::iota(values.begin(), values.end(), 0);
    const auto source = Int32(dims, values);
    ComPtr<IWinMLTensor> region;
    ASSERT_EQ(S_OK, Region(source.Get(), starts, extents, region));
    EXPECT_EQ(Contents<int32_t>(region.Get()), Expected(values, dims, starts, extents)) << "round " << round;
    EXPECT_EQ(DimsOf(region.Get()), std::vector<UINT64>(extents.begin(), extents.end()));
  }
}

TEST_F(TensorRegion, KeepsTheElementTypeAndOwnsItsBytes) {
  const auto source = NewTensor<uint16_t>(WINML_TENSOR_DATA_TYPE_BFLOAT16, {4}, {1, 2, 3, 4});
  ComPtr<IWinMLTensor> region;
  ASSERT_EQ(S_OK, Region(source.Get(), {1}, {2}, region));
  const uint16_t zero = 0;
  ASSERT_EQ(S_OK, Query<IWinMLMutableTensor>(source.Get())->Fill(&zero, 2));
  WINML_TENSOR_DESC desc = {};
  ASSERT_EQ(S_OK, region->GetDesc(&desc));
  EXPECT_EQ(desc.dataType, WINML_TENSOR_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(Contents<uint16_t>(region.Get()), (std::vector<uint16_t>{2, 3}));
}

TEST_F(TensorRegion, OfAScalarNeedsNoAxes) {
  ComPtr<IWinMLTensor> region;
  ASSERT_EQ(S_OK, raw_->CreateTensorFromRegion(Int32({}, {42}).Get(), nullptr, nullptr, 0, region.GetAddressOf()));
  EXPECT_EQ(Contents<int32_t>(region.Get()), std::vector<int32_t>{42});
}

TEST_F(TensorRegion, MayBeEmpty) {
  ComPtr<IWinMLTensor> region;
  ASSERT_EQ(S_OK, Region(Int32({2, 2}, {1, 2, 3, 4}).Get(), {2, 0}, {0, 2}, region));
  EXPECT_EQ(DimsOf(region.Get()), (std::vector<UINT64>{0, 2}));
  ASSERT_EQ(S_OK, Region(Int32({0, 2}, {}).Get(), {0, 1}, {0, 1}, region));
  EXPECT_TRUE(Contents<int32_t>(region.Get()).empty());
}

TEST_F(TensorRegion, LeavingTheSourceIsRefused) {
  const auto source = Int32({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::pair<std::vector<UINT32>, std::vector<UINT32>>> kCases = {
      {{0, 0}, {3, 3}},
      {{2, 0}, {1, 3}},
      {{0, 1}, {1, 3}},
      {{UINT32_MAX, 0}, {1, 1}},
      {{UINT32_MAX, 0}, {2, 1}},
      {{0, 1}, {1, UINT32_MAX}},
      {{1, UINT32_MAX}, {1, UINT32_MAX}},
      {{3, 0}, {0, 1}},
  };
  for (const auto& [starts, extents] : kCases) {
    IWinMLTensor* region = reinterpret_cast<IWinMLTensor*>(uintptr_t{0x10});
    ExpectError(E_INVALIDARG, raw_->CreateTensorFromRegion(source.Get(), starts.data(), extents.data(), 2, &region),
                "the region starts at");
    EXPECT_EQ(region, nullptr);
  }
}

TEST_F(TensorRegion, AxisCountMustBeTheRank) {
  const auto source = Int32({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<UINT32> numbers(100, 0);
  for (const UINT32 count : {0u, 1u, 3u, 100u}) {
    ComPtr<IWinMLTensor> region;
    ExpectError(
        E_INVALIDARG,
        raw_->CreateTensorFromRegion(source.Get(), numbers.data(), numbers.data(), count, region.GetAddressOf()),
        "axisCount is " + std::to_string(count));
  }
}

TEST_F(TensorRegion, NullPointersAreNamed) {
  const auto source = Int32({1}, {1});
  const UINT32 one = 1;
  ComPtr<IWinMLTensor> region;
  ExpectError(E_POINTER, raw_->CreateTensorFromRegion(source.Get(), &one, &one, 1, nullptr), "tensor is null");
  ExpectError(E_POINTER, raw_->CreateTensorFromRegion(nullptr, &one, &one, 1, region.GetAddressOf()), "source is null");
  ExpectError(E_POINTER, raw_->CreateTensorFromRegion(source.Get(), nullptr, &one, 1, region.GetAddressOf()),
              "starts is null");
  ExpectError(E_POINTER, raw_->CreateTensorFromRegion(source.Get(), &one, nullptr, 1, region.GetAddressOf()),
              "extents is null");
}

TEST_F(TensorRegion, OfPackedElementsIsNotSupported) {
  ComPtr<IWinMLTensor> region;
  ExpectError(kNotSupported, Region(NewTensor<BYTE>(WINML_TENSOR_DATA_TYPE_INT4, {4}, {1, 2}).Get(), {0}, {2}, region),
              "int4");
}

TEST_F(TensorRegion, ReadsAnApplicationsTensor) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {2, 2}, {1, 2, 3, 4});
  ComPtr<IWinMLTensor> region;
  ASSERT_EQ(S_OK, Region(stranger.Get(), {0, 1}, {2, 1}, region));
  EXPECT_EQ(Contents<int32_t>(region.Get()), (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(stranger->open_locks, 0);
}

TEST_F(TensorRegion, OfATensorLockedForWritingIsLocked) {
  const auto source = Int32({2}, {1, 2});
  ComPtr<IWinMLTensor> region;
  {
    const auto reader = LockOf(source.Get(), WINML_TENSOR_LOCK_MODE_READ);
    EXPECT_EQ(S_OK, Region(source.Get(), {0}, {1}, region));
  }
  const auto writer = LockOf(source.Get(), WINML_TENSOR_LOCK_MODE_WRITE);
  ExpectError(kLocked, Region(source.Get(), {0}, {1}, region), "source: the tensor is locked for writing");
}

}  // namespace
}  // namespace owml::test
