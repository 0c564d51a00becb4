// Lock rules of tensors.md 2 and 3: modes, flags, conflicts, lifetime.
// Conflicts between threads are in tensor_threads_test.cpp.
#include "tensor/tensor_lock.h"

#include <limits>

#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

constexpr auto kRead = WINML_TENSOR_LOCK_MODE_READ;
constexpr auto kWrite = WINML_TENSOR_LOCK_MODE_WRITE;
constexpr auto kReadWrite = WINML_TENSOR_LOCK_MODE_READ_WRITE;

class TensorLock : public testing::Test {
 protected:
  const ComPtr<IWinMLTensor> tensor_ = Int32({2}, {1, 2});
};

TEST_F(TensorLock, UnknownModesAreRefused) {
  for (const int mode : {0, 4, -1, 5}) {
    IWinMLTensorDataLock* lock = reinterpret_cast<IWinMLTensorDataLock*>(uintptr_t{0x10});
    ExpectError(E_INVALIDARG,
                tensor_->Lock(static_cast<WINML_TENSOR_LOCK_MODE>(mode), WINML_TENSOR_LOCK_FLAG_NONE, &lock),
                "mode is " + std::to_string(mode));
    EXPECT_EQ(lock, nullptr);
  }
}

TEST_F(TensorLock, UnknownFlagsAreRefused) {
  for (const int flags : {2, 3, -1, std::numeric_limits<int>::min()}) {
    IWinMLTensorDataLock* lock = reinterpret_cast<IWinMLTensorDataLock*>(uintptr_t{0x10});
    ExpectError(E_INVALIDARG, tensor_->Lock(kRead, static_cast<WINML_TENSOR_LOCK_FLAGS>(flags), &lock),
                "flags is " + std::to_string(flags));
    EXPECT_EQ(lock, nullptr);
  }
}

TEST_F(TensorLock, NullOutPointerIsNamed) {
  ExpectError(E_POINTER, tensor_->Lock(kRead, WINML_TENSOR_LOCK_FLAG_NONE, nullptr), "dataLock is null");
}

TEST_F(TensorLock, GetDataNeedsBothPointers) {
  const auto lock = LockOf(tensor_.Get(), kRead);
  BYTE* data = reinterpret_cast<BYTE*>(uintptr_t{0x10});
  UINT64 size = 5;
  ExpectError(E_POINTER, lock->GetData(nullptr, &size), "data is null");
  EXPECT_EQ(size, 0u);
  ExpectError(E_POINTER, lock->GetData(&data, nullptr), "dataSizeInBytes is null");
  EXPECT_EQ(data, nullptr);
}

TEST_F(TensorLock, AnyNumberOfReadersShare) {
  std::vector<ComPtr<IWinMLTensorDataLock>> readers;
  for (int i = 0; i < 100; ++i) readers.push_back(LockOf(tensor_.Get(), kRead));
  EXPECT_EQ(DataOf(readers.front().Get()), DataOf(readers.back().Get()));
}

TEST_F(TensorLock, AReaderExcludesWritersOfTheSameThread) {
  auto reader = LockOf(tensor_.Get(), kRead);
  EXPECT_EQ(kLocked, TryLock(tensor_.Get(), kWrite));
  ExpectError(kLocked, TryLock(tensor_.Get(), kReadWrite), "IWinMLTensor::Lock");
  reader.Reset();
  EXPECT_EQ(S_OK, TryLock(tensor_.Get(), kWrite));
}

TEST_F(TensorLock, AWriterExcludesEverything) {
  for (const auto held : {kWrite, kReadWrite}) {
    auto writer = LockOf(tensor_.Get(), held);
    for (const auto wanted : {kRead, kWrite, kReadWrite}) EXPECT_EQ(kLocked, TryLock(tensor_.Get(), wanted));
    writer.Reset();
    for (const auto wanted : {kRead, kWrite, kReadWrite}) EXPECT_EQ(S_OK, TryLock(tensor_.Get(), wanted));
  }
}

TEST_F(TensorLock, OpensWithTheLastReleaseOnly) {
  auto writer = LockOf(tensor_.Get(), kWrite);
  auto again = writer;
  writer.Reset();
  EXPECT_EQ(kLocked, TryLock(tensor_.Get(), kRead));
  again.Reset();
  EXPECT_EQ(S_OK, TryLock(tensor_.Get(), kRead));
}

TEST_F(TensorLock, AFailedLockLeavesNoTrace) {
  {
    const auto reader = LockOf(tensor_.Get(), kRead);
    EXPECT_EQ(kLocked, TryLock(tensor_.Get(), kWrite));
    EXPECT_EQ(S_OK, TryLock(tensor_.Get(), kRead));
  }
  EXPECT_EQ(S_OK, TryLock(tensor_.Get(), kWrite));
}

TEST_F(TensorLock, KeepsTheBytesAliveAfterTheTensorIsReleased) {
  ComPtr<IWinMLTensor> tensor = Int32({2}, {7, 8});
  const auto lock = LockOf(tensor.Get(), kRead);
  const auto* data = reinterpret_cast<const int32_t*>(DataOf(lock.Get()));
  tensor.Reset();
  EXPECT_EQ(data[0], 7);
  EXPECT_EQ(data[1], 8);
}

TEST_F(TensorLock, ReadWriteKeepsTheOldContents) {
  {
    const auto lock = LockOf(tensor_.Get(), kReadWrite);
    auto* data = reinterpret_cast<int32_t*>(DataOf(lock.Get()));
    EXPECT_EQ(data[0], 1);
    data[0] = 5;
  }
  EXPECT_EQ(Contents<int32_t>(tensor_.Get()), (std::vector<int32_t>{5, 2}));
}

// Host memory is direct whatever the flag permits: the writes are there without a commit, and nothing is there to
// commit.
TEST_F(TensorLock, SynchronizedAccessToHostMemoryIsDirect) {
  for (const auto mode : {kRead, kWrite, kReadWrite}) {
    ComPtr<IWinMLTensorDataLock> lock;
    ASSERT_EQ(S_OK, tensor_->Lock(mode, WINML_TENSOR_LOCK_FLAG_ALLOW_SYNCHRONIZED_CPU_ACCESS, lock.GetAddressOf()));
    void* staged = lock.Get();
    EXPECT_EQ(E_NOINTERFACE, lock->QueryInterface(__uuidof(IWinMLTensorSynchronizedDataLock), &staged));
    EXPECT_EQ(staged, nullptr);
    if (mode != kRead) reinterpret_cast<int32_t*>(DataOf(lock.Get()))[0] = 40 + mode;
  }
  EXPECT_EQ(Contents<int32_t>(tensor_.Get())[0], 43);
}

TEST(TensorLockState, CountsReadersUpToItsLimitAndOneWriter) {
  TensorLockState state;
  EXPECT_TRUE(state.TryLock(AccessMode::kRead));
  EXPECT_TRUE(state.TryLock(AccessMode::kRead));
  EXPECT_FALSE(state.TryLock(AccessMode::kWrite));
  state.Unlock(AccessMode::kRead);
  EXPECT_FALSE(state.TryLock(AccessMode::kReadWrite));
  state.Unlock(AccessMode::kRead);
  EXPECT_TRUE(state.TryLock(AccessMode::kReadWrite));
  EXPECT_FALSE(state.TryLock(AccessMode::kRead));
  state.Unlock(AccessMode::kReadWrite);
  EXPECT_TRUE(state.TryLock(AccessMode::kRead));
}

}  // namespace
}  // namespace owml::test
