// The method of IWinMLChatCompletionTaskFactory, for the task entry object to put on.
// Its own base class, because each family of tasks adds one to src/tasks/tasks.cpp.
#pragma once

#include <WinMLTasks.h>

namespace owml {

class ChatCompletionFactoryMethods : public IWinMLChatCompletionTaskFactory {
 public:
  using AbiInterface = IWinMLChatCompletionTaskFactory;

  HRESULT STDMETHODCALLTYPE CreateChatCompletionTask(IWinMLTokenizer* tokenizer,
                                                     IWinMLChatCompletionTask** task) noexcept final;

 protected:
  ~ChatCompletionFactoryMethods() = default;

 private:
  virtual IWinMLRuntime* runtime() const noexcept = 0;
};

}  // namespace owml
