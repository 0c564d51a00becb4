// Token ids in and out, as tensors.md 10 says.
// Types, batch, ranges, rows, strangers.
#include "tensor/text_tensor_factory.h"

#include <objbase.h>

#include "tensor/stranger_tensor.h"
#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

class TextTensorFactory : public TensorTest {
 protected:
  HRESULT Create(const std::vector<UINT32>& ids, WINML_TENSOR_DATA_TYPE type, UINT32 batch = 1) {
    const WINML_TOKEN_TENSOR_DESC desc = {type, batch};
    return text_->CreateTokenTensor(ids.data(), static_cast<UINT32>(ids.size()), &desc,
                                    tensor_.ReleaseAndGetAddressOf());
  }

  // Calls with rubbish in the out parameters; a failure must leave zeros.
  HRESULT Read(IWinMLTensor* tensor) {
    UINT32 count = 77;
    UINT32* ids = reinterpret_cast<UINT32*>(uintptr_t{0x10});
    const HRESULT result = text_->ReadTokenIdsFromTensor(tensor, &count, &ids);
    if (FAILED(result)) {
      EXPECT_EQ(count, 0u);
      EXPECT_EQ(ids, nullptr);
    } else {
      ids_.assign(ids, ids + count);
      CoTaskMemFree(ids);
    }
    return result;
  }

  ComPtr<IWinMLTensor> tensor_;
  std::vector<UINT32> ids_;
};

TEST_F(TextTensorFactory, MakesOneRowOfTheWantedType) {
  ASSERT_EQ(S_OK, Create({1, 2, 3}, WINML_TENSOR_DATA_TYPE_INT32));
  EXPECT_EQ(Contents<int32_t>(tensor_.Get()), (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ(DimsOf(tensor_.Get()), (std::vector<UINT64>{1, 3}));
  ASSERT_EQ(S_OK, Create({4, 5}, WINML_TENSOR_DATA_TYPE_INT64));
  EXPECT_EQ(Contents<int64_t>(tensor_.Get()), (std::vector<int64_t>{4, 5}));
}

TEST_F(TextTensorFactory, UndefinedMeansInt64) {
  ASSERT_EQ(S_OK, Create({UINT32_MAX}, WINML_TENSOR_DATA_TYPE_UNDEFINED));
  WINML_TENSOR_DESC desc = {};
  ASSERT_EQ(S_OK, tensor_->GetDesc(&desc));
  EXPECT_EQ(desc.dataType, WINML_TENSOR_DATA_TYPE_INT64);
  EXPECT_EQ(Contents<int64_t>(tensor_.Get()), std::vector<int64_t>{4294967295});
}

TEST_F(TextTensorFactory, NoIdsMakeAnEmptyRow) {
  const WINML_TOKEN_TENSOR_DESC desc = {WINML_TENSOR_DATA_TYPE_INT32, 1};
  ASSERT_EQ(S_OK, text_->CreateTokenTensor(nullptr, 0, &desc, tensor_.GetAddressOf()));
  EXPECT_EQ(DimsOf(tensor_.Get()), (std::vector<UINT64>{1, 0}));
  ASSERT_EQ(S_OK, Read(tensor_.Get()));
  EXPECT_TRUE(ids_.empty());
}

TEST_F(TextTensorFactory, RefusesOtherBatchesTypesAndLargeIds) {
  ExpectError(E_INVALIDARG, Create({1}, WINML_TENSOR_DATA_TYPE_INT32, 0), "batchSize is 0");
  ExpectError(E_INVALIDARG, Create({1}, WINML_TENSOR_DATA_TYPE_INT32, 2), "batchSize is 2");
  ExpectError(kNotSupported, Create({1}, WINML_TENSOR_DATA_TYPE_UINT32), "not uint32");
  ExpectError(kNotSupported, Create({1}, WINML_TENSOR_DATA_TYPE_FLOAT32), "not float32");
  ExpectError(E_INVALIDARG, Create({1}, static_cast<WINML_TENSOR_DATA_TYPE>(40)), "unknown element type 40");
  EXPECT_EQ(S_OK, Create({INT32_MAX}, WINML_TENSOR_DATA_TYPE_INT32));
  ExpectError(E_INVALIDARG, Create({7, 2147483648u}, WINML_TENSOR_DATA_TYPE_INT32),
              "token id 2147483648 at index 1 does not fit int32");
  EXPECT_FALSE(tensor_);
}

TEST_F(TextTensorFactory, NullPointersAreNamed) {
  const WINML_TOKEN_TENSOR_DESC desc = {WINML_TENSOR_DATA_TYPE_INT32, 1};
  const UINT32 id = 1;
  ExpectError(E_POINTER, text_->CreateTokenTensor(&id, 1, &desc, nullptr), "tensor is null");
  ExpectError(E_POINTER, text_->CreateTokenTensor(nullptr, 1, &desc, tensor_.GetAddressOf()), "tokenIds is null");
  ExpectError(E_POINTER, text_->CreateTokenTensor(&id, 1, nullptr, tensor_.GetAddressOf()), "desc is null");
  ExpectError(E_POINTER, Read(nullptr), "tensor is null");
  const auto tensor = Int32({1}, {1});
  UINT32 count = 9;
  UINT32* ids = reinterpret_cast<UINT32*>(uintptr_t{0x10});
  ExpectError(E_POINTER, text_->ReadTokenIdsFromTensor(tensor.Get(), nullptr, &ids), "tokenCount is null");
  EXPECT_EQ(ids, nullptr);
  ExpectError(E_POINTER, text_->ReadTokenIdsFromTensor(tensor.Get(), &count, nullptr), "tokenIds is null");
  EXPECT_EQ(count, 0u);
}

TEST_F(TextTensorFactory, ReadsTheFirstRow) {
  ASSERT_EQ(S_OK, Read(Int32({2, 3}, {1, 2, 3, 4, 5, 6}).Get()));
  EXPECT_EQ(ids_, (std::vector<UINT32>{1, 2, 3}));
  ASSERT_EQ(S_OK, Read(Int64({4}, {9, 8, 7, 4294967295}).Get()));
  EXPECT_EQ(ids_, (std::vector<UINT32>{9, 8, 7, UINT32_MAX}));
  ASSERT_EQ(S_OK, Read(Int32({}, {5}).Get()));
  EXPECT_EQ(ids_, std::vector<UINT32>{5});
}

TEST_F(TextTensorFactory, RefusesWhatIsNoTokenId) {
  ExpectError(E_INVALIDARG, Read(Int32({2}, {1, -1}).Get()), "-1 at index 1 is no token id");
  ExpectError(E_INVALIDARG, Read(Int64({1}, {4294967296}).Get()), "4294967296 at index 0");
  ExpectError(kNotSupported, Read(Float32({1}, {1}).Get()), "float32 [1]");
  ExpectError(E_INVALIDARG, Read(Int32({0, 5}, {}).Get()), "no row");
}

TEST_F(TextTensorFactory, ReadsStrangersAndRespectsLocks) {
  ASSERT_EQ(
      S_OK,
      Read(NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1, 2}, {3, 4}, {.needs_synchronization = true}).Get()));
  EXPECT_EQ(ids_, (std::vector<UINT32>{3, 4}));
  const auto short_one = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1, 200}, {3, 4});
  ExpectError(E_INVALIDARG, Read(short_one.Get()), "needs 800 bytes");
  const auto tensor = Int32({1}, {1});
  const auto writer = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_WRITE);
  ExpectError(kLocked, Read(tensor.Get()), "locked for writing");
}

}  // namespace
}  // namespace owml::test
