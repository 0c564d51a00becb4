// WinMLCreateTasks as the library exports it.
// Links the shared libraries only.
#include <WinMLTasks.h>
#include <gmock/gmock.h>

#include "exports/error_text.h"

namespace owml::test {
namespace {

using Microsoft::WRL::ComPtr;

ComPtr<IWinMLRuntime> MakeRuntime() {
  ComPtr<IWinMLRuntime> runtime;
  EXPECT_EQ(WinMLCreateRuntime(IID_IWinMLRuntime, reinterpret_cast<void**>(runtime.GetAddressOf())), S_OK);
  return runtime;
}

HRESULT Create(IWinMLRuntime* runtime, REFIID iid, ComPtr<IUnknown>& tasks) {
  return WinMLCreateTasks(runtime, iid, reinterpret_cast<void**>(tasks.ReleaseAndGetAddressOf()));
}

TEST(WinMLCreateTasksExport, GivesTheEntryObjectOfARuntime) {
  const ComPtr<IWinMLRuntime> runtime = MakeRuntime();
  ComPtr<IUnknown> object;
  ASSERT_EQ(Create(runtime.Get(), IID_IWinMLTasks, object), S_OK);
  ComPtr<IWinMLTasks> tasks;
  ASSERT_EQ(object.As(&tasks), S_OK);
  ComPtr<IWinMLRuntime> told;
  ASSERT_EQ(tasks->GetRuntime(&told), S_OK);
  EXPECT_EQ(told.Get(), runtime.Get());
  EXPECT_EQ(Create(runtime.Get(), IID_IUnknown, object), S_OK);
}

TEST(WinMLCreateTasksExport, RefusesNullPointers) {
  const ComPtr<IWinMLRuntime> runtime = MakeRuntime();
  void* out = reinterpret_cast<void*>(uintptr_t{0x10});
  EXPECT_EQ(WinMLCreateTasks(nullptr, IID_IWinMLTasks, &out), E_POINTER);
  EXPECT_EQ(out, nullptr);
  const ErrorText error = TakeError();
  EXPECT_EQ(error.source, "WinMLRuntime");
  EXPECT_EQ(error.description, "WinMLCreateTasks: runtime is null");
  EXPECT_EQ(WinMLCreateTasks(runtime.Get(), IID_IWinMLTasks, nullptr), E_POINTER);
  EXPECT_EQ(TakeError().description, "WinMLCreateTasks: tasks is null");
}

TEST(WinMLCreateTasksExport, RefusesAnInterfaceThatIsNoTask) {
  const ComPtr<IWinMLRuntime> runtime = MakeRuntime();
  void* out = reinterpret_cast<void*>(uintptr_t{0x10});
  EXPECT_EQ(WinMLCreateTasks(runtime.Get(), IID_IWinMLTensor, &out), E_NOINTERFACE);
  EXPECT_EQ(out, nullptr);
  EXPECT_NE(TakeError().description, "");
}

TEST(WinMLCreateTasksExport, AFamilyIsGivenByBothWaysOrByNeither) {
  const ComPtr<IWinMLRuntime> runtime = MakeRuntime();
  ComPtr<IUnknown> tasks, direct;
  ASSERT_EQ(Create(runtime.Get(), IID_IWinMLTasks, tasks), S_OK);
  for (const IID& family : {IID_IWinMLTextGenerationTaskFactory, IID_IWinMLChatCompletionTaskFactory,
                            IID_IWinMLAutomaticSpeechRecognitionTaskFactory}) {
    ComPtr<IUnknown> asked;
    const HRESULT result = tasks->QueryInterface(family, reinterpret_cast<void**>(asked.GetAddressOf()));
    EXPECT_TRUE(result == S_OK || result == E_NOINTERFACE);
    EXPECT_EQ(Create(runtime.Get(), family, direct), result);
    EXPECT_EQ(direct != nullptr, result == S_OK);
  }
}

}  // namespace
}  // namespace owml::test
