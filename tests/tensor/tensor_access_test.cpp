// TensorAccess over our tensors and over strangers, honest, staged and lying.
// What the runtime relies on: nothing a stranger says leads outside the bytes that it gave.
#include "tensor/tensor_access.h"

#include <functional>

#include "base/error.h"
#include "tensor/stranger_tensor.h"
#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

// The Error that `work` throws must have the code and hold the words.
void ExpectThrows(HRESULT code, const std::string& words, const std::function<void()>& work) {
  try {
    work();
    ADD_FAILURE() << "nothing thrown, wanted: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(code, error.code()) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

void ExpectRefused(StrangerTensor* tensor, HRESULT code, const std::string& words) {
  for (const AccessMode mode : {AccessMode::kRead, AccessMode::kReadWrite}) {
    ExpectThrows(code, words, [&] { TensorAccess(tensor, mode, "input 'x'"); });
    ExpectThrows(code, "input 'x'", [&] { TensorAccess(tensor, mode, "input 'x'"); });
  }
  EXPECT_EQ(tensor->open_locks, 0);
  EXPECT_EQ(tensor->references(), 1u);
}

TEST(TensorAccessToOurs, GivesTheTensorsOwnBytesUnderALock) {
  const auto tensor = Int32({1, 2}, {3, 4});
  const BYTE* address = DataOf(LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ).Get());
  {
    const TensorAccess access(tensor.Get(), AccessMode::kRead, "x");
    EXPECT_EQ(reinterpret_cast<BYTE*>(access.view().data), address);
    EXPECT_EQ(access.view().dtype, DType::kInt32);
    EXPECT_EQ(access.view().dims, (Dims{1, 2}));
    EXPECT_EQ(access.view().bytes, 8u);
    EXPECT_EQ(S_OK, TryLock(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ));
    EXPECT_EQ(kLocked, TryLock(tensor.Get(), WINML_TENSOR_LOCK_MODE_WRITE));
  }
  EXPECT_EQ(S_OK, TryLock(tensor.Get(), WINML_TENSOR_LOCK_MODE_WRITE));
}

TEST(TensorAccessToOurs, KeepsTheTensorAlive) {
  ComPtr<IWinMLTensor> tensor = Int32({1}, {3});
  const TensorAccess access(tensor.Get(), AccessMode::kRead, "x");
  tensor.Reset();
  int32_t value = 0;
  std::memcpy(&value, access.view().data, 4);
  EXPECT_EQ(value, 3);
}

TEST(TensorAccessToOurs, ConflictsAndReadOnlyViewsAreNamed) {
  const auto tensor = Int32({1}, {3});
  {
    const TensorAccess reader(tensor.Get(), AccessMode::kRead, "x");
    ExpectThrows(kLocked, "output 'y': the tensor is locked",
                 [&] { TensorAccess(tensor.Get(), AccessMode::kWrite, "output 'y'"); });
  }
  BYTE byte = 0;
  const Shape shape = {WINML_TENSOR_DATA_TYPE_UINT8, {1}};
  const WINML_TENSOR_DESC desc = shape.desc();
  const auto view = CreateTensorFromRawBuffer(&desc, &byte, 1, WINML_TENSOR_ACCESS_MODE_READ, nullptr);
  ExpectThrows(E_ACCESSDENIED, "output 'y': the tensor is a read-only view",
               [&] { TensorAccess(view.Get(), AccessMode::kWrite, "output 'y'"); });
  ExpectThrows(E_POINTER, "input 'x' is null", [] { TensorAccess(nullptr, AccessMode::kRead, "input 'x'"); });
}

TEST(TensorAccessToOurs, MovesWithItsLock) {
  const auto tensor = Int32({1}, {3});
  std::vector<TensorAccess> accesses;
  accesses.emplace_back(tensor.Get(), AccessMode::kWrite, "x");
  TensorAccess moved(std::move(accesses.back()));
  accesses.clear();
  EXPECT_EQ(kLocked, TryLock(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ));
  EXPECT_EQ(moved.view().bytes, 4u);
}

TEST(TensorAccessToAStranger, ReadsAndWritesDirectMemoryInPlace) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {2}, {1, 2});
  {
    TensorAccess access(stranger.Get(), AccessMode::kWrite, "x");
    EXPECT_EQ(stranger->last_mode, WINML_TENSOR_LOCK_MODE_WRITE);
    EXPECT_EQ(access.view().dims, Dims{2});
    access.view().data[0] = std::byte{9};
    access.Commit();
  }
  EXPECT_EQ(stranger->bytes()[0], 9);
  EXPECT_EQ(stranger->lock_calls, 1);
  EXPECT_EQ(stranger->open_locks, 0);
}

TEST(TensorAccessToAStranger, KeepsItAliveWhileItsLockIsOpen) {
  auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {5});
  const TensorAccess access(stranger.Get(), AccessMode::kRead, "x");
  stranger.Reset();
  EXPECT_EQ(access.view().data[0], std::byte{5});
}

TEST(TensorAccessToAStranger, StagedWritesArriveWithCommitOnly) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1}, {.needs_synchronization = true});
  {
    TensorAccess access(stranger.Get(), AccessMode::kReadWrite, "x");
    access.view().data[0] = std::byte{7};
  }
  EXPECT_EQ(stranger->bytes()[0], 1);
  {
    TensorAccess access(stranger.Get(), AccessMode::kReadWrite, "x");
    access.view().data[0] = std::byte{7};
    access.Commit();
  }
  EXPECT_EQ(stranger->bytes()[0], 7);
  EXPECT_EQ(stranger->commits, 1);
  {
    TensorAccess reader(stranger.Get(), AccessMode::kRead, "x");
    EXPECT_EQ(reader.view().data[0], std::byte{7});
    reader.Commit();
  }
  EXPECT_EQ(stranger->commits, 1) << "a reader has nothing to publish";
}

TEST(TensorAccessToAStranger, AFailingCommitIsReported) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1},
                                             {.commit_result = E_FAIL, .needs_synchronization = true});
  TensorAccess access(stranger.Get(), AccessMode::kWrite, "x");
  ExpectThrows(E_FAIL, "Commit failed with 0x80004005", [&] { access.Commit(); });
}

TEST(TensorAccessToAStranger, MoreBytesThanNeededAreNotSeen) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1, 2, 3});
  const TensorAccess access(stranger.Get(), AccessMode::kRead, "x");
  EXPECT_EQ(access.view().bytes, 4u);
}

TEST(TensorAccessToAStranger, EmptyTensorsNeedNoAddress) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {0}, {}, {.null_data = true});
  const TensorAccess access(stranger.Get(), AccessMode::kRead, "x");
  EXPECT_EQ(access.view().bytes, 0u);
}

TEST(LyingStranger, TooFewBytesAreRefused) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {2}, {1, 2}, {.size_error = -1});
  ExpectRefused(stranger.Get(), E_INVALIDARG, "int32 [2] needs 8 bytes, its lock gives 7");
}

TEST(LyingStranger, NullDataIsRefused) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {2}, {1, 2}, {.null_data = true});
  ExpectRefused(stranger.Get(), E_INVALIDARG, "null data");
}

TEST(LyingStranger, ALockThatIsNotThereIsRefused) {
  const auto stranger = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1}, {.forgets_lock = true});
  ExpectRefused(stranger.Get(), E_INVALIDARG, "succeeded without a lock object");
}

TEST(LyingStranger, RubbishBesideAFailureIsNotTouched) {
  const auto stranger =
      NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1}, {.lock_result = E_FAIL, .leaves_rubbish = true});
  ExpectRefused(stranger.Get(), E_FAIL, "IWinMLTensor::Lock failed with 0x80004005");
  const auto shy = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1},
                                        {.lock_result = kNotSupported, .leaves_rubbish = true});
  ExpectRefused(shy.Get(), kNotSupported, "IWinMLTensor::Lock");
  EXPECT_EQ(shy->lock_calls % 2, 0) << "each time plain, then with synchronized access";
}

TEST(LyingStranger, FailuresOfItsMethodsArePassedOn) {
  const auto silent = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1}, {.desc_result = E_NOTIMPL});
  ExpectRefused(silent.Get(), E_NOTIMPL, "IWinMLTensor::GetDesc failed with 0x80004001");
  const auto closed = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1}, {.data_result = E_UNEXPECTED});
  ExpectRefused(closed.Get(), E_UNEXPECTED, "IWinMLTensorDataLock::GetData failed with 0x8000FFFF");
}

TEST(LyingStranger, AnOldSentenceOfTheThreadIsNotTakenForItsOwn) {
  ExpectError(E_POINTER, Int32({1}, {1})->GetDesc(nullptr), "desc is null");
  const auto silent = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {1}, {.desc_result = E_NOTIMPL});
  ExpectThrows(E_NOTIMPL, "GetDesc failed with 0x80004001",
               [&] { TensorAccess(silent.Get(), AccessMode::kRead, "x"); });
}

TEST(LyingStranger, ImpossibleDescriptorsAreRefused) {
  const auto unknown = NewStranger<BYTE>(static_cast<WINML_TENSOR_DATA_TYPE>(99), {1}, {1});
  ExpectRefused(unknown.Get(), E_INVALIDARG, "unknown element type 99");
  const auto deep = NewStranger<BYTE>(WINML_TENSOR_DATA_TYPE_UINT8, {1}, {1});
  deep->set_rank(UINT32_MAX);
  ExpectRefused(deep.Get(), E_INVALIDARG, "4294967295 dimensions");
  const auto blank = NewStranger<BYTE>(WINML_TENSOR_DATA_TYPE_UINT8, {1}, {1}, {.null_dimensions = true});
  ExpectRefused(blank.Get(), E_INVALIDARG, "dimensions is null");
  const auto open = NewStranger<BYTE>(WINML_TENSOR_DATA_TYPE_UINT8, {UINT64_MAX}, {1});
  ExpectRefused(open.Get(), E_INVALIDARG, "free in [?]");
  const auto huge = NewStranger<BYTE>(WINML_TENSOR_DATA_TYPE_FLOAT64, {UINT64_MAX / 2, 2}, {1});
  ExpectRefused(huge.Get(), E_INVALIDARG, "does not fit 64 bits");
}

// A first extent that is one larger at every question: what was checked is what is used.
TEST(LyingStranger, AChangingDescriptorIsReadOnce) {
  const auto stranger = NewStranger<BYTE>(WINML_TENSOR_DATA_TYPE_UINT8, {2}, {1, 2, 3}, {.grows = true});
  {
    const TensorAccess access(stranger.Get(), AccessMode::kRead, "x");
    EXPECT_EQ(access.view().dims, Dims{3});
    EXPECT_EQ(access.view().bytes, 3u);
  }
  ExpectThrows(E_INVALIDARG, "needs 4 bytes, its lock gives 3",
               [&] { TensorAccess(stranger.Get(), AccessMode::kRead, "x"); });
}

TEST(ReadTensorDesc, AnswersForOursAndStrangers) {
  DType dtype = DType::kUndefined;
  Dims dims;
  ReadTensorDesc(Int64({2, 0}, {}).Get(), "x", &dtype, &dims);
  EXPECT_EQ(dtype, DType::kInt64);
  EXPECT_EQ(dims, (Dims{2, 0}));
  ReadTensorDesc(NewStranger<float>(WINML_TENSOR_DATA_TYPE_FLOAT32, {}, {1}).Get(), "x", &dtype, &dims);
  EXPECT_EQ(dtype, DType::kFloat32);
  EXPECT_TRUE(dims.empty());
  ExpectThrows(E_POINTER, "output 'y' is null", [&] { ReadTensorDesc(nullptr, "output 'y'", &dtype, &dims); });
}

}  // namespace
}  // namespace owml::test
