// The lock rules among threads; made for the thread sanitizer.
// The bytes are plain memory: a broken rule is a data race.
#include <atomic>
#include <functional>
#include <thread>

#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

constexpr int kThreads = 4;

void InThreads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(TensorThreads, WritersAreAloneAndNothingIsLost) {
  const auto tensor = NewTensor<int64_t>(WINML_TENSOR_DATA_TYPE_INT64, {2}, {0, 0});
  std::atomic<int64_t> written{0};
  InThreads([&](int) {
    for (int i = 0; i < 2000; ++i) {
      ComPtr<IWinMLTensorDataLock> lock;
      const bool write = i % 2 == 0;
      const HRESULT result = tensor->Lock(write ? WINML_TENSOR_LOCK_MODE_READ_WRITE : WINML_TENSOR_LOCK_MODE_READ,
                                          WINML_TENSOR_LOCK_FLAG_NONE, lock.GetAddressOf());
      if (FAILED(result)) {
        EXPECT_EQ(result, kLocked);
        continue;
      }
      auto* values = reinterpret_cast<int64_t*>(DataOf(lock.Get()));
      EXPECT_EQ(values[0], values[1]);
      if (write) {
        ++values[0];
        ++values[1];
        ++written;
      }
    }
  });
  EXPECT_EQ(Contents<int64_t>(tensor.Get())[0], written.load());
  EXPECT_GT(written.load(), 0);
}

TEST(TensorThreads, ReadersNeverConflict) {
  const auto tensor = Int32({1}, {42});
  InThreads([&](int) {
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(Contents<int32_t>(tensor.Get()), std::vector<int32_t>{42});
  });
}

TEST(TensorThreads, TheLastLockMayBeReleasedOnAnyThread) {
  for (int round = 0; round < 100; ++round) {
    ComPtr<IWinMLTensor> tensor = Int32({1}, {round});
    ComPtr<IWinMLTensorDataLock> lock = LockOf(tensor.Get(), WINML_TENSOR_LOCK_MODE_READ_WRITE);
    std::thread other([held = std::move(lock)]() mutable {
      ++*reinterpret_cast<int32_t*>(DataOf(held.Get()));
      held.Reset();
    });
    tensor.Reset();
    other.join();
  }
}

TEST(TensorThreads, FillAndCopyAnswerLockedInsteadOfRacing) {
  const auto a = Int32({256}, std::vector<int32_t>(256, 0));
  const auto b = Int32({256}, std::vector<int32_t>(256, 0));
  InThreads([&](int index) {
    const auto mine = Query<IWinMLMutableTensor>(index % 2 ? a.Get() : b.Get());
    for (int32_t i = 0; i < 500; ++i) {
      const HRESULT filled = mine->Fill(&i, 4);
      const HRESULT copied = mine->CopyFrom(index % 2 ? b.Get() : a.Get());
      EXPECT_TRUE(filled == S_OK || filled == kLocked) << filled;
      EXPECT_TRUE(copied == S_OK || copied == kLocked) << copied;
    }
  });
  const auto values = Contents<int32_t>(a.Get());
  EXPECT_EQ(values, std::vector<int32_t>(256, values[0]));
}

TEST(TensorThreads, EachThreadHasItsOwnSentence) {
  const auto tensor = Int32({1}, {0});
  ExpectError(E_POINTER, tensor->GetDesc(nullptr), "GetDesc");
  InThreads([&](int index) {
    EXPECT_EQ(openwinml::LastErrorMessage(), "");
    const auto mode = static_cast<WINML_TENSOR_LOCK_MODE>(100 + index);
    ComPtr<IWinMLTensorDataLock> lock;
    for (int i = 0; i < 50; ++i) {
      ExpectError(E_INVALIDARG, tensor->Lock(mode, WINML_TENSOR_LOCK_FLAG_NONE, lock.GetAddressOf()),
                  "mode is " + std::to_string(100 + index));
    }
  });
  EXPECT_NE(openwinml::LastErrorMessage().find("GetDesc"), std::string::npos);
}

}  // namespace
}  // namespace owml::test
