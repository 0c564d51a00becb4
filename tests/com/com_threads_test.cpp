// Reference counts, the log and its sink among threads; made for the thread sanitizer.
// A sink that was replaced must never run again.
#include <gtest/gtest.h>
#include <oleauto.h>
#include <openwinml/diagnostics.h>
#include <openwinml/log.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "com/error_info.h"
#include "com/implements.h"
#include "com/thread_binding.h"

namespace owml::test {
namespace {

void InThreads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(ComThreads, AnObjectIsSharedAndDiesOnce) {
  for (int round = 0; round < 200; ++round) {
    SetThreadError(E_FAIL, "", "shared");
    ComPtr<IErrorInfo> info;
    ASSERT_EQ(S_OK, GetErrorInfo(0, info.GetAddressOf()));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([copy = info]() mutable {
        const auto queried = Query<IErrorInfo>(copy.Get());
        BSTR text = nullptr;
        EXPECT_EQ(S_OK, queried->GetDescription(&text));
        EXPECT_STREQ(text, L"shared");
        SysFreeString(text);
      });
    }
    info.Reset();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(ComThreads, AReplacedSinkIsNeverCalledAgain) {
  struct Context {
    std::atomic<bool> alive{true};
  };
  const OwmlLogSink sink = [](void* context, OwmlLogLevel, const char*, const char*) {
    EXPECT_TRUE(static_cast<Context*>(context)->alive.load());
  };
  const OwmlLogLevel before = OwmlLogGetLevel();
  OwmlLogSetLevel(OWML_LOG_LEVEL_INFO);
  Context first;
  OwmlLogSetSink(sink, &first);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) OwmlLogWrite(OWML_LOG_LEVEL_INFO, "t", "x");
  });
  for (int i = 0; i < 200; ++i) {
    Context next;
    OwmlLogSetSink(sink, &next);
    std::this_thread::yield();
    OwmlLogSetSink(sink, &first);
    next.alive = false;
  }
  stop = true;
  writer.join();
  OwmlLogSetSink(nullptr, nullptr);
  OwmlLogSetLevel(before);
}

TEST(ComThreads, ErrorObjectsEndWithTheirThread) {
  const UINT64 before = OwmlLiveObjectCount();
  InThreads([](int) { SetThreadError(E_FAIL, "", "left behind"); });
  EXPECT_EQ(OwmlLiveObjectCount(), before);
}

TEST(ThreadBinding, RefusesEveryOtherThread) {
  const ThreadBinding binding;
  binding.Check();
  InThreads([&](int) {
    try {
      binding.Check();
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), RPC_E_WRONG_THREAD);
    }
  });
}

}  // namespace
}  // namespace owml::test
