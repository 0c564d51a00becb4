// Hands out events, and the parts that make them.
// See pull_stream.h.
#include "tasks/chat_completion/pull_stream.h"

#include <utility>

#include "com/guard.h"
#include "com/implements.h"
#include "tasks/chat_completion/result.h"

namespace owml {
namespace {

class PullStream final : public Implements<PullStream, IWinMLChatCompletionPullStream> {
 public:
  PullStream(const ThreadBinding& thread, std::unique_ptr<Completion> completion)
      : thread_(thread), completion_(std::move(completion)) {}

  HRESULT STDMETHODCALLTYPE ReadNext(WINML_CHAT_COMPLETION_READ_STATUS* status,
                                     IWinMLConversationOutputEvent** outputEvent) noexcept override {
    return Guard("IWinMLChatCompletionPullStream::ReadNext", [&] {
      if (status) *status = WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED;
      if (outputEvent) *outputEvent = nullptr;
      RequirePointer(status, "status");
      RequirePointer(outputEvent, "outputEvent");
      Completion& completion = Open();
      Require(!completion.running(), E_NOT_VALID_STATE, "the stream is being read already");
      auto event = completion.Next();
      if (!event) return;
      *status = WINML_CHAT_COMPLETION_READ_STATUS_EVENT;
      *outputEvent = event.Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE GetResult(IWinMLChatCompletionResult** result) noexcept override {
    return Guard("IWinMLChatCompletionPullStream::GetResult", [&] {
      RequireOut(result, "result");
      const Completion& completion = Open();
      Require(completion.completed(), E_NOT_VALID_STATE,
              "the completion has not ended; call ReadNext until it says so");
      if (!result_) result_ = MakeCompletionResult(completion.outcome());
      *result = AddedRef(result_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE Close() noexcept override {
    return Guard("IWinMLChatCompletionPullStream::Close", [&]() -> HRESULT {
      thread_.Check();
      if (!completion_) return S_OK;
      Require(!completion_->running(), E_NOT_VALID_STATE, "the stream is being read");
      const HRESULT closed = completion_->text_stream()->Close();
      if (FAILED(closed)) return closed;
      completion_.reset();
      result_.Reset();
      return S_OK;
    });
  }

  HRESULT STDMETHODCALLTYPE GetFormatResult(IWinMLConversationFormatResult** formatResult) noexcept override {
    return Guard("IWinMLChatCompletionPullStream::GetFormatResult", [&] {
      RequireOut(formatResult, "formatResult");
      *formatResult = AddedRef(Open().request().format.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE GetOutputParser(IWinMLConversationOutputParser** parser) noexcept override {
    return Guard("IWinMLChatCompletionPullStream::GetOutputParser", [&] {
      RequireOut(parser, "parser");
      *parser = AddedRef(Open().request().parser.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE GetConstraint(WINML_CONVERSATION_CONSTRAINT_PRESENCE* presence,
                                          IWinMLTokenConstraint** constraint) noexcept override {
    return Guard("IWinMLChatCompletionPullStream::GetConstraint", [&] {
      RequireOut(presence, "presence");
      RequireOut(constraint, "constraint");
      IWinMLTokenConstraint* const its = Open().request().constraint.Get();
      *presence = its ? WINML_CONVERSATION_CONSTRAINT_PRESENCE_PRESENT : WINML_CONVERSATION_CONSTRAINT_PRESENCE_NONE;
      *constraint = AddedRef(its);
    });
  }

  HRESULT STDMETHODCALLTYPE GetTextGenerationStream(IWinMLTextGenerationPullStream** stream) noexcept override {
    return Guard("IWinMLChatCompletionPullStream::GetTextGenerationStream", [&] {
      RequireOut(stream, "stream");
      *stream = AddedRef(Open().text_stream());
    });
  }

 private:
  Completion& Open() const {
    thread_.Check();
    Require(completion_ != nullptr, E_NOT_VALID_STATE, "the stream is closed");
    return *completion_;
  }

  const ThreadBinding thread_;
  std::unique_ptr<Completion> completion_;  // null = closed
  ComPtr<IWinMLChatCompletionResult> result_;
};

}  // namespace

ComPtr<IWinMLChatCompletionPullStream> MakeChatPullStream(const ThreadBinding& thread,
                                                          std::unique_ptr<Completion> completion) {
  return Make<PullStream>(thread, std::move(completion));
}

}  // namespace owml
