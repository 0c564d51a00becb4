// The Task entry object: identity, the Runtime it belongs to, sources.
// Works on the class, without the exported function.
#include "tasks/tasks.h"

#include <gtest/gtest.h>
#include <openwinml/error.h>

#include "tasks/stranger_runtime.h"

namespace owml::test {
namespace {

TEST(Tasks, KeepsItsRuntimeAliveAndGivesItBack) {
  StrangerRuntime runtime;
  ComPtr<IWinMLTasks> tasks = MakeTasks(&runtime);
  EXPECT_EQ(runtime.references, 2u);
  ComPtr<IWinMLRuntime> told;
  ASSERT_EQ(tasks->GetRuntime(&told), S_OK);
  EXPECT_EQ(told.Get(), &runtime);
  EXPECT_EQ(runtime.references, 3u);
  tasks.Reset();
  told.Reset();
  EXPECT_EQ(runtime.references, 1u);
}

TEST(Tasks, AnswersTheRuntimeIdentityToo) {
  StrangerRuntime runtime;
  const ComPtr<IWinMLTasks> tasks = MakeTasks(&runtime);
  ComPtr<IWinMLTaskRuntimeIdentity> identity;
  ASSERT_EQ(tasks.As(&identity), S_OK);
  ComPtr<IWinMLRuntime> told;
  ASSERT_EQ(identity->GetRuntime(&told), S_OK);
  EXPECT_EQ(told.Get(), &runtime);
  EXPECT_TRUE(SameObject(tasks.Get(), identity.Get()));
}

TEST(Tasks, RefusesNullOutPointersWithTheMethodsName) {
  StrangerRuntime runtime;
  const ComPtr<IWinMLTasks> tasks = MakeTasks(&runtime);
  EXPECT_EQ(tasks->GetRuntime(nullptr), E_POINTER);
  EXPECT_EQ(openwinml::LastErrorMessage(), "IWinMLTasks::GetRuntime: runtime is null");
  EXPECT_EQ(tasks->CreateCancellationSource(nullptr), E_POINTER);
  EXPECT_EQ(openwinml::LastErrorMessage(), "IWinMLTasks::CreateCancellationSource: source is null");
  EXPECT_EQ(tasks->QueryInterface(IID_IWinMLTasks, nullptr), E_POINTER);
}

TEST(Tasks, ASourceOutlivesTheTasks) {
  StrangerRuntime runtime;
  ComPtr<IWinMLTasks> tasks = MakeTasks(&runtime);
  ComPtr<IWinMLCancellationSource> source;
  ASSERT_EQ(tasks->CreateCancellationSource(&source), S_OK);
  tasks.Reset();
  EXPECT_EQ(source->Cancel(), S_OK);
}

TEST(Tasks, IsNoModel) {
  StrangerRuntime runtime;
  const ComPtr<IWinMLTasks> tasks = MakeTasks(&runtime);
  void* out = &runtime;
  EXPECT_EQ(tasks->QueryInterface(IID_IWinMLModel, &out), E_NOINTERFACE);
  EXPECT_EQ(out, nullptr);
}

}  // namespace
}  // namespace owml::test
