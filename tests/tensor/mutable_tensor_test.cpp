// CopyFrom and Fill of tensors.md 6.
// Sizes, packed types, overlap, locks and strangers.
#include <array>

#include "tensor/stranger_tensor.h"
#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

ComPtr<IWinMLMutableTensor> Mutable(const ComPtr<IWinMLTensor>& tensor) {
  return Query<IWinMLMutableTensor>(tensor.Get());
}

TEST(CopyFrom, CopiesBytesBetweenTypesAndShapesOfOneSize) {
  const auto target = Float32({2, 2}, {9, 9, 9, 9});
  const auto source = NewTensor<uint16_t>(WINML_TENSOR_DATA_TYPE_UINT16, {8}, {0, 0x3F80, 0, 0x4000, 0, 0, 0, 0xBF80});
  ASSERT_EQ(S_OK, Mutable(target)->CopyFrom(source.Get()));
  EXPECT_EQ(Contents<float>(target.Get()), (std::vector<float>{1, 2, 0, -1}));
  EXPECT_EQ(DimsOf(target.Get()), (std::vector<UINT64>{2, 2}));
}

TEST(CopyFrom, PackedTensorsCopyWhole) {
  const auto target = NewTensor<BYTE>(WINML_TENSOR_DATA_TYPE_INT4, {3}, {0, 0});
  ASSERT_EQ(S_OK, Mutable(target)->CopyFrom(NewTensor<BYTE>(WINML_TENSOR_DATA_TYPE_UINT8, {2}, {0x21, 0x03}).Get()));
  EXPECT_EQ(Contents<BYTE>(target.Get()), (std::vector<BYTE>{0x21, 0x03}));
}

TEST(CopyFrom, NullSourceIsNamed) {
  ExpectError(E_POINTER, Mutable(Int32({1}, {1}))->CopyFrom(nullptr), "IWinMLMutableTensor::CopyFrom: source is null");
}

TEST(CopyFrom, AnotherByteSizeIsRefusedAndNothingChanges) {
  const auto target = Int32({2}, {1, 2});
  ExpectError(E_INVALIDARG, Mutable(target)->CopyFrom(Int32({3}, {3, 4, 5}).Get()),
              "source has 12 bytes, this tensor 8");
  ExpectError(E_INVALIDARG, Mutable(target)->CopyFrom(Int32({1}, {3}).Get()), "source has 4 bytes");
  EXPECT_EQ(Contents<int32_t>(target.Get()), (std::vector<int32_t>{1, 2}));
}

TEST(CopyFrom, OntoItselfChangesNothing) {
  const auto tensor = Int32({2}, {1, 2});
  EXPECT_EQ(S_OK, Mutable(tensor)->CopyFrom(tensor.Get()));
  EXPECT_EQ(Contents<int32_t>(tensor.Get()), (std::vector<int32_t>{1, 2}));
  const auto reader = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ);
  EXPECT_EQ(kLocked, Mutable(tensor)->CopyFrom(tensor.Get()));
}

TEST(CopyFrom, RespectsTheLocksOfBoth) {
  const auto target = Int32({1}, {1});
  const auto source = Int32({1}, {2});
  {
    const auto reader = LockOf(target.Get(), WINML_TENSOR_LOCK_MODE_READ);
    ExpectError(kLocked, Mutable(target)->CopyFrom(source.Get()), "the destination");
  }
  {
    const auto writer = LockOf(source.Get(), WINML_TENSOR_LOCK_MODE_WRITE);
    ExpectError(kLocked, Mutable(target)->CopyFrom(source.Get()), "source");
  }
  EXPECT_EQ(Contents<int32_t>(target.Get()), std::vector<int32_t>{1});
  const auto reader = LockOf(source.Get(), WINML_TENSOR_LOCK_MODE_READ);
  EXPECT_EQ(S_OK, Mutable(target)->CopyFrom(source.Get()));
  EXPECT_EQ(Contents<int32_t>(target.Get()), std::vector<int32_t>{2});
}

TEST(CopyFrom, OverlappingViewsOfOneBufferMoveLikeMemmove) {
  std::array<BYTE, 9> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Shape shape = {WINML_TENSOR_DATA_TYPE_UINT8, {8}};
  const WINML_TENSOR_DESC desc = shape.desc();
  const auto mode = WINML_TENSOR_ACCESS_MODE_READWRITE;
  const auto low = CreateTensorFromRawBuffer(&desc, bytes.data(), 8, mode, nullptr);
  const auto high = CreateTensorFromRawBuffer(&desc, bytes.data() + 1, 8, mode, nullptr);
  ASSERT_EQ(S_OK, Mutable(high)->CopyFrom(low.Get()));
  EXPECT_EQ(bytes, (std::array<BYTE, 9>{1, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(CopyFrom, EmptyTensorsCopyNothing) { EXPECT_EQ(S_OK, Mutable(Int32({0}, {}))->CopyFrom(Int64({3, 0}, {}).Get())); }

TEST(CopyFrom, ReadsAnApplicationsTensor) {
  const auto target = Int32({2}, {0, 0});
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {2}, {5, 6});
  ASSERT_EQ(S_OK, Mutable(target)->CopyFrom(stranger.Get()));
  EXPECT_EQ(Contents<int32_t>(target.Get()), (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(stranger->open_locks, 0);
  EXPECT_EQ(stranger->references(), 1u);
}

TEST(Fill, WritesTheElementEverywhere) {
  const auto tensor = NewTensor<double>(WINML_TENSOR_DATA_TYPE_FLOAT64, {3, 5}, std::vector<double>(15, 1.0));
  const double value = -2.5;
  ASSERT_EQ(S_OK, Mutable(tensor)->Fill(&value, 8));
  EXPECT_EQ(Contents<double>(tensor.Get()), std::vector<double>(15, -2.5));
}

TEST(Fill, TakesItsValueFromTheTensorItself) {
  const auto tensor = Int32({5}, {1, 2, 3, 4, 5});
  const BYTE* data = nullptr;
  {
    const auto lock = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ);
    data = DataOf(lock.Get());
  }
  ASSERT_EQ(S_OK, Mutable(tensor)->Fill(data + 8, 4));
  EXPECT_EQ(Contents<int32_t>(tensor.Get()), std::vector<int32_t>(5, 3));
}

TEST(Fill, EveryTypeTakesItsElementSizeOnly) {
  constexpr std::array<UINT32, 16> kElement = {1, 4, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 8, 1, 0, 0};
  const std::array<BYTE, 16> value = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int type = 0; type < 16; ++type) {
    const Shape shape = {static_cast<WINML_TENSOR_DATA_TYPE>(type), {2}};
    const WINML_TENSOR_DESC desc = shape.desc();
    const auto writer = Mutable(CreateTensor(&desc, nullptr, 0));
    for (const UINT32 size : {0u, 1u, 2u, 3u, 4u, 8u, 16u, UINT32_MAX}) {
      const bool fits = size != 0 && size == kElement[static_cast<size_t>(type)];
      EXPECT_EQ(fits ? S_OK : E_INVALIDARG, writer->Fill(value.data(), size)) << "type " << type << ", size " << size;
    }
  }
}

TEST(Fill, PackedTypesAreNamedInTheRefusal) {
  const BYTE value = 1;
  ExpectError(E_INVALIDARG, Mutable(NewTensor<BYTE>(WINML_TENSOR_DATA_TYPE_UINT4, {2}, {1}))->Fill(&value, 1), "uint4");
}

TEST(Fill, NullValueIsNamed) {
  ExpectError(E_POINTER, Mutable(Int32({1}, {1}))->Fill(nullptr, 4), "IWinMLMutableTensor::Fill: value is null");
}

TEST(Fill, WaitsForNoLock) {
  const auto tensor = Int32({1}, {1});
  const int32_t value = 2;
  const auto reader = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ);
  ExpectError(kLocked, Mutable(tensor)->Fill(&value, 4), "locked");
  EXPECT_EQ(Contents<int32_t>(tensor.Get()), std::vector<int32_t>{1});
}

TEST(Fill, AnEmptyTensorHasNothingToFill) {
  const int32_t value = 2;
  EXPECT_EQ(S_OK, Mutable(Int32({0, 4}, {}))->Fill(&value, 4));
}

}  // namespace
}  // namespace owml::test
