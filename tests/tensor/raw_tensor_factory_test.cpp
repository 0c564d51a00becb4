// CreateTensor, CreateTensorFromBuffer and CreateTensorFromRawBuffer: values, sizes, views and lifetimes.
// Every line of tensors.md 7 that has an answer.
#include "tensor/raw_tensor_factory.h"

#include <array>
#include <cstdint>
#include <limits>

#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

// Any address but null: the methods must not look at it.
IWinMLTensor* const kRubbish = reinterpret_cast<IWinMLTensor*>(uintptr_t{0x10});

using RawTensorFactory = TensorTest;

TEST_F(RawTensorFactory, AllocatesZerosWhenNoDataIsGiven) {
  const Shape shape = {WINML_TENSOR_DATA_TYPE_FLOAT32, {2, 3}};
  const WINML_TENSOR_DESC desc = shape.desc();
  ComPtr<IWinMLTensor> tensor;
  ASSERT_EQ(S_OK, raw_->CreateTensor(&desc, nullptr, 12345, tensor.GetAddressOf()));
  EXPECT_EQ(Contents<float>(tensor.Get()), std::vector<float>(6, 0.0f));
}

TEST_F(RawTensorFactory, CopiesTheCallersBytes) {
  std::vector<int32_t> values = {1, -2, 3};
  const Shape shape = {WINML_TENSOR_DATA_TYPE_INT32, {3}};
  const WINML_TENSOR_DESC desc = shape.desc();
  ComPtr<IWinMLTensor> tensor;
  ASSERT_EQ(S_OK, raw_->CreateTensor(&desc, values.data(), 12, tensor.GetAddressOf()));
  values = {0, 0, 0};
  EXPECT_EQ(Contents<int32_t>(tensor.Get()), (std::vector<int32_t>{1, -2, 3}));
}

TEST_F(RawTensorFactory, KeepsNothingOfTheDescriptor) {
  Shape shape = {WINML_TENSOR_DATA_TYPE_UINT8, {2, 2}};
  const WINML_TENSOR_DESC desc = shape.desc();
  ComPtr<IWinMLTensor> tensor;
  ASSERT_EQ(S_OK, raw_->CreateTensor(&desc, nullptr, 0, tensor.GetAddressOf()));
  shape.dims = {9, 9};
  EXPECT_EQ(DimsOf(tensor.Get()), (std::vector<UINT64>{2, 2}));
}

TEST_F(RawTensorFactory, TellsTypeAndShapeFromItsOwnStorage) {
  const ComPtr<IWinMLTensor> tensor = Int64({1, 3}, {7, 8, 9});
  WINML_TENSOR_DESC first = {}, second = {};
  ASSERT_EQ(S_OK, tensor->GetDesc(&first));
  ASSERT_EQ(S_OK, tensor->GetDesc(&second));
  EXPECT_EQ(first.dataType, WINML_TENSOR_DATA_TYPE_INT64);
  EXPECT_EQ(first.dimensionCount, 2u);
  EXPECT_EQ(first.dimensions, second.dimensions);
  ExpectError(E_POINTER, tensor->GetDesc(nullptr), "IWinMLTensor::GetDesc: desc is null");
}

TEST_F(RawTensorFactory, StorageIsAlignedTo64Bytes) {
  for (const UINT64 size : {0, 1, 63, 64, 65, 1000, 1 << 20}) {
    const Shape shape = {WINML_TENSOR_DATA_TYPE_UINT8, {size}};
    const WINML_TENSOR_DESC desc = shape.desc();
    ComPtr<IWinMLTensor> tensor;
    ASSERT_EQ(S_OK, raw_->CreateTensor(&desc, nullptr, 0, tensor.GetAddressOf()));
    const auto lock = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ);
    UINT64 bytes = 0;
    const BYTE* data = DataOf(lock.Get(), &bytes);
    EXPECT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u) << size;
    EXPECT_EQ(bytes, size);
  }
}

TEST_F(RawTensorFactory, EveryElementTypeHasItsSize) {
  constexpr std::array<UINT64, 16> kBytesOfFive = {5, 20, 10, 10, 5, 5, 10, 10, 20, 20, 40, 40, 40, 5, 3, 3};
  for (int type = 0; type < 16; ++type) {
    const Shape shape = {static_cast<WINML_TENSOR_DATA_TYPE>(type), {5}};
    const WINML_TENSOR_DESC desc = shape.desc();
    const std::vector<BYTE> bytes(41, 0xA5);
    const UINT64 size = kBytesOfFive[static_cast<size_t>(type)];
    ComPtr<IWinMLTensor> tensor;
    EXPECT_EQ(S_OK, raw_->CreateTensor(&desc, bytes.data(), size, tensor.ReleaseAndGetAddressOf())) << type;
    EXPECT_EQ(Contents<BYTE>(tensor.Get()), std::vector<BYTE>(size, 0xA5)) << type;
    EXPECT_EQ(E_INVALIDARG, raw_->CreateTensor(&desc, bytes.data(), size + 1, tensor.ReleaseAndGetAddressOf())) << type;
    EXPECT_EQ(E_INVALIDARG, raw_->CreateTensor(&desc, bytes.data(), size - 1, tensor.ReleaseAndGetAddressOf())) << type;
  }
}

TEST_F(RawTensorFactory, PackedTypesTakeTwoElementsAByte) {
  for (const WINML_TENSOR_DATA_TYPE type : {WINML_TENSOR_DATA_TYPE_INT4, WINML_TENSOR_DATA_TYPE_UINT4}) {
    EXPECT_EQ(Contents<BYTE>(NewTensor<BYTE>(type, {3, 3}, {0x21, 0x43, 0x65, 0x87, 0x09}).Get()).size(), 5u);
    EXPECT_EQ(Contents<BYTE>(NewTensor<BYTE>(type, {4}, {0x21, 0x43}).Get()).size(), 2u);
    EXPECT_EQ(Contents<BYTE>(NewTensor<BYTE>(type, {}, {0x01}).Get()).size(), 1u);
  }
}

TEST_F(RawTensorFactory, RankZeroIsOneElement) {
  const ComPtr<IWinMLTensor> tensor = Float32({}, {2.5f});
  WINML_TENSOR_DESC desc = {};
  ASSERT_EQ(S_OK, tensor->GetDesc(&desc));
  EXPECT_EQ(desc.dimensionCount, 0u);
  EXPECT_EQ(Contents<float>(tensor.Get()), std::vector<float>{2.5f});
}

TEST_F(RawTensorFactory, ZeroExtentsMakeAnEmptyTensor) {
  const Shape shape = {WINML_TENSOR_DATA_TYPE_FLOAT32, {2, 0, 3}};
  const WINML_TENSOR_DESC desc = shape.desc();
  ComPtr<IWinMLTensor> tensor;
  ASSERT_EQ(S_OK, raw_->CreateTensor(&desc, nullptr, 0, tensor.GetAddressOf()));
  EXPECT_TRUE(Contents<float>(tensor.Get()).empty());
  EXPECT_EQ(DimsOf(tensor.Get()), (std::vector<UINT64>{2, 0, 3}));
  ASSERT_EQ(S_OK, raw_->CreateTensorFromRawBuffer(&desc, nullptr, 0, WINML_TENSOR_ACCESS_MODE_READ, nullptr,
                                                  tensor.ReleaseAndGetAddressOf()));
  EXPECT_TRUE(Contents<float>(tensor.Get()).empty());
}

TEST_F(RawTensorFactory, RefusesMalformedDescriptorsInEveryForm) {
  const UINT64 free_dims[] = {2, UINT64_MAX};
  const UINT64 huge_dims[] = {UINT64_MAX / 2, 3};
  const UINT64 huge_bytes[] = {UINT64_MAX / 4};
  const UINT64 huge_beside_zero[] = {0, UINT64_MAX / 2, UINT64_MAX / 2};
  const std::vector<UINT64> many(65, 1);
  const auto type = [](int number) { return static_cast<WINML_TENSOR_DATA_TYPE>(number); };
  const struct {
    WINML_TENSOR_DESC desc;
    const char* words;
  } kCases[] = {
      {{type(16), 0, nullptr}, "unknown element type 16"},
      {{type(-1), 0, nullptr}, "unknown element type -1"},
      {{type(1), 2, nullptr}, "dimensions is null"},
      {{type(1), 2, free_dims}, "free in [2, ?]"},
      {{type(1), 2, huge_dims}, "does not fit 64 bits"},
      {{type(12), 1, huge_bytes}, "does not fit 64 bits"},
      {{type(1), 3, huge_beside_zero}, "does not fit 64 bits"},
      {{type(1), 65, many.data()}, "65 dimensions, at most 64"},
      {{type(1), UINT32_MAX, many.data()}, "4294967295 dimensions"},
  };
  BYTE byte = 0;
  for (const auto& one : kCases) {
    IWinMLTensor* tensor = kRubbish;
    ExpectError(E_INVALIDARG, raw_->CreateTensor(&one.desc, nullptr, 0, &tensor), one.words);
    EXPECT_EQ(tensor, nullptr) << one.words;
    for (const auto mode : {WINML_TENSOR_ACCESS_MODE_COPY, WINML_TENSOR_ACCESS_MODE_READ}) {
      tensor = kRubbish;
      ExpectError(E_INVALIDARG, raw_->CreateTensorFromRawBuffer(&one.desc, &byte, 1, mode, nullptr, &tensor),
                  one.words);
      EXPECT_EQ(tensor, nullptr) << one.words;
    }
  }
}

TEST_F(RawTensorFactory, MoreMemoryThanThereCanBeIsOutOfMemory) {
  const Shape shape = {WINML_TENSOR_DATA_TYPE_UINT8, {UINT64_MAX - 1}};
  const WINML_TENSOR_DESC desc = shape.desc();
  IWinMLTensor* tensor = kRubbish;
  ExpectError(E_OUTOFMEMORY, raw_->CreateTensor(&desc, nullptr, 0, &tensor), "out of memory");
  EXPECT_EQ(tensor, nullptr);
}

TEST_F(RawTensorFactory, ChecksPointersAndClearsTheOutPointer) {
  const Shape shape = {WINML_TENSOR_DATA_TYPE_UINT8, {1}};
  const WINML_TENSOR_DESC desc = shape.desc();
  BYTE byte = 7;
  WINML_BUFFER_BINDING binding = {};
  ExpectError(E_POINTER, raw_->CreateTensor(&desc, nullptr, 0, nullptr),
              "IWinMLRawTensorFactory::CreateTensor: tensor is null");
  IWinMLTensor* tensor = kRubbish;
  ExpectError(E_POINTER, raw_->CreateTensor(nullptr, nullptr, 0, &tensor), "desc is null");
  EXPECT_EQ(tensor, nullptr);

  ExpectError(E_POINTER, raw_->CreateTensorFromBuffer(&desc, &binding, nullptr), "tensor is null");
  tensor = kRubbish;
  ExpectError(E_POINTER, raw_->CreateTensorFromBuffer(nullptr, &binding, &tensor), "desc is null");
  EXPECT_EQ(tensor, nullptr);
  ExpectError(E_POINTER, raw_->CreateTensorFromBuffer(&desc, nullptr, &tensor), "binding is null");

  const auto mode = WINML_TENSOR_ACCESS_MODE_READ;
  ExpectError(E_POINTER, raw_->CreateTensorFromRawBuffer(&desc, &byte, 1, mode, nullptr, nullptr), "tensor is null");
  tensor = kRubbish;
  ExpectError(E_POINTER, raw_->CreateTensorFromRawBuffer(nullptr, &byte, 1, mode, nullptr, &tensor), "desc is null");
  EXPECT_EQ(tensor, nullptr);
  ExpectError(E_POINTER, raw_->CreateTensorFromRawBuffer(&desc, nullptr, 1, mode, nullptr, &tensor), "data is null");
  ExpectError(E_POINTER, raw_->CreateTensorFromRawBuffer(&desc, nullptr, 0, mode, nullptr, &tensor), "data is null");
}

TEST_F(RawTensorFactory, HasNoD3D12BuffersToWrap) {
  const Shape shape = {WINML_TENSOR_DATA_TYPE_UINT8, {1}};
  const WINML_TENSOR_DESC desc = shape.desc();
  const WINML_BUFFER_BINDING binding = {};
  IWinMLTensor* tensor = kRubbish;
  ExpectError(kNotSupported, raw_->CreateTensorFromBuffer(&desc, &binding, &tensor), "no D3D12 device");
  EXPECT_EQ(tensor, nullptr);
}

TEST_F(RawTensorFactory, RefusesAnUnknownAccessMode) {
  const Shape shape = {WINML_TENSOR_DATA_TYPE_UINT8, {1}};
  const WINML_TENSOR_DESC desc = shape.desc();
  BYTE byte = 7;
  for (const int mode : {-1, 3, 64}) {
    IWinMLTensor* tensor = kRubbish;
    ExpectError(
        E_INVALIDARG,
        raw_->CreateTensorFromRawBuffer(&desc, &byte, 1, static_cast<WINML_TENSOR_ACCESS_MODE>(mode), nullptr, &tensor),
        "accessMode is " + std::to_string(mode));
    EXPECT_EQ(tensor, nullptr);
  }
}

TEST_F(RawTensorFactory, ByteCountOfAViewMustBeExact) {
  const Shape shape = {WINML_TENSOR_DATA_TYPE_FLOAT32, {2}};
  const WINML_TENSOR_DESC desc = shape.desc();
  std::array<BYTE, 16> bytes = {};
  for (const auto mode :
       {WINML_TENSOR_ACCESS_MODE_COPY, WINML_TENSOR_ACCESS_MODE_READ, WINML_TENSOR_ACCESS_MODE_READWRITE}) {
    for (const UINT64 count : {UINT64{0}, UINT64{7}, UINT64{9}, UINT64_MAX}) {
      ComPtr<IWinMLTensor> tensor;
      ExpectError(E_INVALIDARG,
                  raw_->CreateTensorFromRawBuffer(&desc, bytes.data(), count, mode, nullptr, tensor.GetAddressOf()),
                  "float32 [2] has 8 bytes");
    }
  }
}

class ViewTest : public TensorTest {
 protected:
  ComPtr<IWinMLTensor> View(WINML_TENSOR_ACCESS_MODE mode, IUnknown* keep_alive = nullptr) {
    const Shape shape = {WINML_TENSOR_DATA_TYPE_INT32, {2}};
    const WINML_TENSOR_DESC desc = shape.desc();
    ComPtr<IWinMLTensor> tensor;
    EXPECT_EQ(S_OK, raw_->CreateTensorFromRawBuffer(&desc, reinterpret_cast<BYTE*>(buffer_.data()), 8, mode, keep_alive,
                                                    tensor.GetAddressOf()));
    return tensor;
  }

  std::array<int32_t, 2> buffer_ = {10, 20};
};

TEST_F(ViewTest, CopyLeavesTheBufferToTheCaller) {
  const auto tensor = View(WINML_TENSOR_ACCESS_MODE_COPY);
  buffer_[0] = 99;
  EXPECT_EQ(Contents<int32_t>(tensor.Get()), (std::vector<int32_t>{10, 20}));
  EXPECT_EQ(S_OK, TryLock(tensor.Get(), WINML_TENSOR_LOCK_MODE_WRITE));
}

TEST_F(ViewTest, ReadViewIsTheCallersMemory) {
  const auto tensor = View(WINML_TENSOR_ACCESS_MODE_READ);
  const auto lock = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ);
  EXPECT_EQ(reinterpret_cast<int32_t*>(DataOf(lock.Get())), buffer_.data());
}

TEST_F(ViewTest, ReadViewRefusesEveryWrite) {
  const auto tensor = View(WINML_TENSOR_ACCESS_MODE_READ);
  for (const auto mode : {WINML_TENSOR_LOCK_MODE_WRITE, WINML_TENSOR_LOCK_MODE_READ_WRITE}) {
    for (const auto flags : {WINML_TENSOR_LOCK_FLAG_NONE, WINML_TENSOR_LOCK_FLAG_ALLOW_SYNCHRONIZED_CPU_ACCESS}) {
      IWinMLTensorDataLock* lock = reinterpret_cast<IWinMLTensorDataLock*>(uintptr_t{0x10});
      ExpectError(E_ACCESSDENIED, tensor->Lock(mode, flags, &lock), "read-only view");
      EXPECT_EQ(lock, nullptr);
    }
  }
  const auto writer = Query<IWinMLMutableTensor>(tensor.Get());
  const int32_t value = 1;
  ExpectError(E_ACCESSDENIED, writer->Fill(&value, 4), "read-only view");
  ExpectError(E_ACCESSDENIED, writer->CopyFrom(Int32({2}, {1, 2}).Get()), "read-only view");
  EXPECT_EQ(buffer_, (std::array<int32_t, 2>{10, 20}));
}

TEST_F(ViewTest, ReadWriteViewWritesIntoTheCallersMemory) {
  const auto tensor = View(WINML_TENSOR_ACCESS_MODE_READWRITE);
  {
    const auto lock = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_WRITE);
    reinterpret_cast<int32_t*>(DataOf(lock.Get()))[1] = 77;
  }
  EXPECT_EQ(buffer_[1], 77);
  const int32_t value = 5;
  ASSERT_EQ(S_OK, Query<IWinMLMutableTensor>(tensor.Get())->Fill(&value, 4));
  EXPECT_EQ(buffer_, (std::array<int32_t, 2>{5, 5}));
}

TEST_F(ViewTest, MayBeginAtAnyAddress) {
  std::array<BYTE, 16> bytes = {0, 1, 0, 0, 0, 2, 0, 0, 0};
  const Shape shape = {WINML_TENSOR_DATA_TYPE_INT32, {1, 2}};
  const WINML_TENSOR_DESC desc = shape.desc();
  ComPtr<IWinMLTensor> tensor;
  ASSERT_EQ(S_OK, raw_->CreateTensorFromRawBuffer(&desc, bytes.data() + 1, 8, WINML_TENSOR_ACCESS_MODE_READ, nullptr,
                                                  tensor.GetAddressOf()));
  EXPECT_EQ(ReadTokenIds(tensor.Get()), (std::vector<UINT32>{1, 2}));
}

// Counts references the way an application's object would.
class KeepAliveObject final : public IUnknown {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }

  ULONG references = 1;
};

TEST_F(ViewTest, HoldsOneReferenceToLifetimeKeepAliveUntilItsEnd) {
  for (const auto mode : {WINML_TENSOR_ACCESS_MODE_READ, WINML_TENSOR_ACCESS_MODE_READWRITE}) {
    KeepAliveObject owner;
    ComPtr<IWinMLTensor> tensor = View(mode, &owner);
    EXPECT_EQ(owner.references, 2u);
    ComPtr<IWinMLTensorDataLock> lock = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ);
    tensor.Reset();
    EXPECT_EQ(owner.references, 2u) << "an open lock keeps the tensor's memory alive";
    lock.Reset();
    EXPECT_EQ(owner.references, 1u);
  }
}

TEST_F(ViewTest, ACopyHoldsNoReferenceToLifetimeKeepAlive) {
  KeepAliveObject owner;
  const ComPtr<IWinMLTensor> tensor = View(WINML_TENSOR_ACCESS_MODE_COPY, &owner);
  EXPECT_EQ(owner.references, 1u);
}

TEST_F(ViewTest, AFailedCallHoldsNoReferenceToLifetimeKeepAlive) {
  KeepAliveObject owner;
  const Shape shape = {WINML_TENSOR_DATA_TYPE_INT32, {3}};
  const WINML_TENSOR_DESC desc = shape.desc();
  ComPtr<IWinMLTensor> tensor;
  EXPECT_EQ(E_INVALIDARG,
            raw_->CreateTensorFromRawBuffer(&desc, reinterpret_cast<BYTE*>(buffer_.data()), 8,
                                            WINML_TENSOR_ACCESS_MODE_READ, &owner, tensor.GetAddressOf()));
  EXPECT_EQ(owner.references, 1u);
}

TEST_F(RawTensorFactory, TensorsOfferTheirCapabilitiesAndNoDevice) {
  const ComPtr<IWinMLTensor> tensor = Float32({1}, {1.0f});
  EXPECT_TRUE(Query<IWinMLMutableTensor>(tensor.Get()));
  EXPECT_TRUE(Query<IWinMLTensorSynchronization>(tensor.Get()));
  IWinMLD3D12Tensor* device = reinterpret_cast<IWinMLD3D12Tensor*>(uintptr_t{0x10});
  EXPECT_EQ(E_NOINTERFACE, tensor->QueryInterface(__uuidof(IWinMLD3D12Tensor), reinterpret_cast<void**>(&device)));
  EXPECT_EQ(device, nullptr);
}

TEST_F(RawTensorFactory, TheSentenceIsTheThreadsErrorObject) {
  EXPECT_EQ(E_POINTER, raw_->CreateTensor(nullptr, nullptr, 0, ComPtr<IWinMLTensor>().GetAddressOf()));
  ComPtr<IErrorInfo> info;
  ASSERT_EQ(S_OK, GetErrorInfo(0, info.GetAddressOf()));
  BSTR source = nullptr, text = nullptr;
  ASSERT_EQ(S_OK, info->GetSource(&source));
  ASSERT_EQ(S_OK, info->GetDescription(&text));
  EXPECT_STREQ(source, L"WinMLRuntime");
  EXPECT_STREQ(text, L"IWinMLRawTensorFactory::CreateTensor: desc is null");
  SysFreeString(source);
  SysFreeString(text);
}

}  // namespace
}  // namespace owml::test
