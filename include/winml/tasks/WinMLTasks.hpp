// Short ways to the task entry object, its factories and their first objects. Nothing here throws or keeps state.
// For C++ applications; header only, over WinMLTasks.h.
#ifndef WINML_TASKS_WINML_TASKS_HPP_
#define WINML_TASKS_WINML_TASKS_HPP_

#include <wrl/client.h>

#include "../../WinMLTasks.h"

namespace winml::tasks {

/// The task entry object of a runtime.
inline HRESULT Create(IWinMLRuntime* runtime, IWinMLTasks** tasks) noexcept {
  if (tasks == nullptr) return E_POINTER;
  return WinMLCreateTasks(runtime, __uuidof(IWinMLTasks), reinterpret_cast<void**>(tasks));
}
inline HRESULT Create(IWinMLRuntime* runtime, Microsoft::WRL::ComPtr<IWinMLTasks>& tasks) noexcept {
  return Create(runtime, tasks.ReleaseAndGetAddressOf());
}

namespace detail {

template <class Factory>
HRESULT GetFactory(IWinMLTasks* tasks, Factory** factory) noexcept {
  if (factory == nullptr) return E_POINTER;
  *factory = nullptr;
  if (tasks == nullptr) return E_POINTER;
  return tasks->QueryInterface(__uuidof(Factory), reinterpret_cast<void**>(factory));
}

}  // namespace detail

/// E_NOINTERFACE: the libraries have no such family.
inline HRESULT GetTextGenerationFactory(IWinMLTasks* tasks, IWinMLTextGenerationTaskFactory** factory) noexcept {
  return detail::GetFactory(tasks, factory);
}
inline HRESULT GetChatCompletionFactory(IWinMLTasks* tasks, IWinMLChatCompletionTaskFactory** factory) noexcept {
  return detail::GetFactory(tasks, factory);
}
inline HRESULT GetAutomaticSpeechRecognitionFactory(IWinMLTasks* tasks,
                                                    IWinMLAutomaticSpeechRecognitionTaskFactory** factory) noexcept {
  return detail::GetFactory(tasks, factory);
}

/// A chat task over a tokenizer with a chat template.
inline HRESULT CreateChatCompletionTask(IWinMLTasks* tasks, IWinMLTokenizer* tokenizer,
                                        IWinMLChatCompletionTask** task) noexcept {
  if (task == nullptr) return E_POINTER;
  *task = nullptr;
  Microsoft::WRL::ComPtr<IWinMLChatCompletionTaskFactory> factory;
  const HRESULT result = GetChatCompletionFactory(tasks, factory.GetAddressOf());
  return FAILED(result) ? result : factory->CreateChatCompletionTask(tokenizer, task);
}

/// Options with a token limit and every other member at its default.
inline WINML_TEXT_GENERATION_OPTIONS MakeTextGenerationOptions(UINT32 maxNewTokens) noexcept {
  WINML_TEXT_GENERATION_OPTIONS options = {};
  options.presentFields = WINML_TEXT_GENERATION_OPTION_FIELD_MAX_NEW_TOKENS;
  options.maxNewTokens = maxNewTokens;
  return options;
}

}  // namespace winml::tasks

#endif  // WINML_TASKS_WINML_TASKS_HPP_
