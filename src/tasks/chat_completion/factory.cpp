// Checks and makers.
// See factory.h.
#include "tasks/chat_completion/factory.h"

#include "com/guard.h"
#include "tasks/chat_completion/task.h"

namespace owml {

HRESULT ChatCompletionFactoryMethods::CreateChatCompletionTask(IWinMLTokenizer* tokenizer,
                                                               IWinMLChatCompletionTask** task) noexcept {
  return Guard("IWinMLChatCompletionTaskFactory::CreateChatCompletionTask", [&] {
    RequireOut(task, "task");
    RequirePointer(tokenizer, "tokenizer");
    *task = MakeChatCompletionTask(runtime(), tokenizer).Detach();
  });
}

}  // namespace owml
