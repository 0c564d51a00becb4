// winml/tasks/WinMLTasks.hpp: options, and what the helpers do with null.
// Part of tests_abi; against the task library they are tested where that is built.
#include <gtest/gtest.h>

#include <utility>
#include <winml/tasks/WinMLTasks.hpp>

WINML_API HRESULT STDMETHODCALLTYPE WinMLCreateTasks(IWinMLRuntime* runtime, REFIID, void** tasks) WINML_NOEXCEPT {
  *tasks = nullptr;
  return runtime ? E_NOINTERFACE : E_POINTER;
}

namespace {

TEST(TaskHelpers, OptionsHoldTheLimitAndNothingElse) {
  const WINML_TEXT_GENERATION_OPTIONS options = winml::tasks::MakeTextGenerationOptions(128);
  EXPECT_EQ(options.presentFields, WINML_TEXT_GENERATION_OPTION_FIELD_MAX_NEW_TOKENS);
  EXPECT_EQ(options.maxNewTokens, 128u);
  EXPECT_EQ(options.seed, 0u);
}

TEST(TaskHelpers, NullIsAnErrorAndClearsTheOutput) {
  auto* chat = reinterpret_cast<IWinMLChatCompletionTaskFactory*>(1);
  EXPECT_EQ(winml::tasks::GetChatCompletionFactory(nullptr, &chat), E_POINTER);
  EXPECT_EQ(chat, nullptr);
  EXPECT_EQ(winml::tasks::GetTextGenerationFactory(nullptr, nullptr), E_POINTER);
  EXPECT_EQ(winml::tasks::CreateChatCompletionTask(nullptr, nullptr, nullptr), E_POINTER);
  EXPECT_EQ(winml::tasks::Create(nullptr, static_cast<IWinMLTasks**>(nullptr)), E_POINTER);
  Microsoft::WRL::ComPtr<IWinMLTasks> tasks;
  EXPECT_EQ(winml::tasks::Create(nullptr, tasks), E_POINTER);
  static_assert(noexcept(winml::tasks::Create(nullptr, tasks)));
}

}  // namespace
