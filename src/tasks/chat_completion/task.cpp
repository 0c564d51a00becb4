// A session is made when runtime and tokenizer are those of the text session.
// See task.h.
#include "tasks/chat_completion/task.h"

#include "com/guard.h"
#include "com/implements.h"
#include "tasks/chat_completion/session.h"

namespace owml {
namespace {

class ChatCompletionTask final : public Implements<ChatCompletionTask, IWinMLChatCompletionTask> {
 public:
  ChatCompletionTask(IWinMLRuntime* runtime, IWinMLTokenizer* tokenizer) : runtime_(runtime), tokenizer_(tokenizer) {}

  HRESULT STDMETHODCALLTYPE GetTokenizer(IWinMLTokenizer** tokenizer) noexcept override {
    return Guard("IWinMLChatCompletionTask::GetTokenizer", [&] {
      RequireOut(tokenizer, "tokenizer");
      *tokenizer = AddedRef(tokenizer_.Get());
    });
  }

  // On another thread than its own, the text session answers RPC_E_WRONG_THREAD to the first question.
  HRESULT STDMETHODCALLTYPE CreateSession(IWinMLTextGenerationSession* textGenerationSession,
                                          IWinMLChatCompletionSession** session) noexcept override {
    return Guard("IWinMLChatCompletionTask::CreateSession", [&] {
      RequireOut(session, "session");
      RequirePointer(textGenerationSession, "textGenerationSession");
      auto state = WINML_TEXT_GENERATION_SESSION_STATE_CLOSED;
      ClearThreadError();
      CheckResult(textGenerationSession->GetState(&state), "the text session", "GetState");
      Require(state != WINML_TEXT_GENERATION_SESSION_STATE_CLOSED, E_NOT_VALID_STATE, "the text session is closed");
      ComPtr<IWinMLRuntime> runtime;
      ClearThreadError();
      CheckResult(textGenerationSession->GetRuntime(runtime.GetAddressOf()), "the text session", "GetRuntime");
      Require(SameObject(runtime.Get(), runtime_.Get()), E_INVALIDARG, "the text session belongs to another runtime");
      Require(SameObject(TokenizerOf(textGenerationSession).Get(), tokenizer_.Get()), E_INVALIDARG,
              "the text session has another tokenizer than the task");
      *session = MakeChatSession(tokenizer_.Get(), textGenerationSession).Detach();
    });
  }

 private:
  static ComPtr<IWinMLTokenizer> TokenizerOf(IWinMLTextGenerationSession* session) {
    ComPtr<IWinMLTextGenerationConfiguration> configuration;
    ClearThreadError();
    CheckResult(session->GetConfiguration(configuration.GetAddressOf()), "the text session", "GetConfiguration");
    Require(configuration != nullptr, E_UNEXPECTED, "the text session: GetConfiguration succeeded without one");
    ComPtr<IWinMLTokenizer> tokenizer;
    ClearThreadError();
    CheckResult(configuration->GetTokenizer(tokenizer.GetAddressOf()), "the text session's configuration",
                "GetTokenizer");
    return tokenizer;
  }

  const ComPtr<IWinMLRuntime> runtime_;
  const ComPtr<IWinMLTokenizer> tokenizer_;
};

}  // namespace

ComPtr<IWinMLChatCompletionTask> MakeChatCompletionTask(IWinMLRuntime* runtime, IWinMLTokenizer* tokenizer) {
  Require(Query<IWinMLStructuredConversationFormatter>(tokenizer) != nullptr, E_NOINTERFACE,
          "the tokenizer formats no conversations; its files carry no chat template");
  return Make<ChatCompletionTask>(runtime, tokenizer);
}

}  // namespace owml
