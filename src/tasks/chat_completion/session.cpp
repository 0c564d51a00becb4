// Checks at the edge; prepares a request, starts its prompt, hands both to a completion.
// See session.h.
#include "tasks/chat_completion/session.h"

#include <memory>
#include <utility>

#include "com/guard.h"
#include "com/implements.h"
#include "com/thread_binding.h"
#include "tasks/chat_completion/linked_cancellation.h"
#include "tasks/chat_completion/media_bindings.h"
#include "tasks/chat_completion/pull_stream.h"

namespace owml {
namespace {

class ChatSession final : public Implements<ChatSession, IWinMLChatCompletionSession> {
 public:
  ChatSession(IWinMLTokenizer* tokenizer, IWinMLTextGenerationSession* text_session)
      : tokenizer_(tokenizer), text_session_(text_session) {}

  // Spec-open: answered after Close too, for the caller who still has to close the text session.
  HRESULT STDMETHODCALLTYPE GetTextGenerationSession(IWinMLTextGenerationSession** session) noexcept override {
    return Guard("IWinMLChatCompletionSession::GetTextGenerationSession", [&] {
      RequireOut(session, "session");
      thread_.Check();
      *session = AddedRef(text_session_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE Generate(const WINML_CONVERSATION_REQUEST* request, IWinMLTextGenerationOptions* options,
                                     IWinMLCancellationSource* cancellation,
                                     IWinMLChatCompletionPullStream** stream) noexcept override {
    return Guard("IWinMLChatCompletionSession::Generate", [&] {
      RequireOut(stream, "stream");
      RequirePointer(request, "request");
      RequireOpen();
      *stream = Start(*request, options, cancellation).Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE Close() noexcept override {
    return Guard("IWinMLChatCompletionSession::Close", [&] {
      thread_.Check();
      closed_ = true;
      encoder_.Reset();
    });
  }

  HRESULT STDMETHODCALLTYPE SetMediaEncoder(IWinMLMediaEncoder* encoder) noexcept override {
    return Guard("IWinMLChatCompletionSession::SetMediaEncoder", [&] {
      RequireOpen();
      encoder_ = encoder;
    });
  }

  HRESULT STDMETHODCALLTYPE GetMediaEncoder(IWinMLMediaEncoder** encoder) noexcept override {
    return Guard("IWinMLChatCompletionSession::GetMediaEncoder", [&] {
      RequireOut(encoder, "encoder");
      RequireOpen();
      *encoder = AddedRef(encoder_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE GenerateWithMedia(const WINML_CONVERSATION_REQUEST* request, UINT32 bindingCount,
                                              const WINML_CHAT_MEDIA_BINDING* bindings,
                                              IWinMLTextGenerationOptions* options,
                                              IWinMLCancellationSource* cancellation,
                                              IWinMLChatCompletionPullStream** stream) noexcept override {
    return Guard("IWinMLChatCompletionSession::GenerateWithMedia", [&] {
      RequireOut(stream, "stream");
      RequirePointer(request, "request");
      if (bindingCount != 0) RequirePointer(bindings, "bindings");
      RequireOpen();
      if (bindingCount == 0) {
        *stream = Start(*request, options, cancellation).Detach();
        return;
      }
      Require(encoder_ != nullptr, E_NOT_VALID_STATE, "the session has no media encoder; set one first");
      CheckMediaBindings(*request, {bindings, bindingCount});
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "conversations with media are not built yet");
    });
  }

 private:
  void RequireOpen() const {
    thread_.Check();
    Require(!closed_, E_NOT_VALID_STATE, "the session is closed");
  }

  ComPtr<IWinMLChatCompletionPullStream> Start(const WINML_CONVERSATION_REQUEST& conversation,
                                               IWinMLTextGenerationOptions* options,
                                               IWinMLCancellationSource* cancellation) const {
    PreparedRequest request = PrepareRequest(tokenizer_.Get(), conversation);
    // Without stop texts the application's own source does, and a text session need not look out for any.
    ComPtr<IWinMLCancellationSource> stop = cancellation;
    if (!request.stops.empty()) stop = MakeLinkedCancellation(cancellation);
    StartedPrompt start =
        StartPrompt(text_session_.Get(), request.prompt, request.constraint.Get(), options, stop.Get());
    return MakeChatPullStream(thread_, std::make_unique<Completion>(std::move(request), std::move(start),
                                                                    std::move(stop), text_session_.Get()));
  }

  const ThreadBinding thread_;
  const ComPtr<IWinMLTokenizer> tokenizer_;
  const ComPtr<IWinMLTextGenerationSession> text_session_;
  ComPtr<IWinMLMediaEncoder> encoder_;
  bool closed_ = false;
};

}  // namespace

ComPtr<IWinMLChatCompletionSession> MakeChatSession(IWinMLTokenizer* tokenizer,
                                                    IWinMLTextGenerationSession* text_session) {
  return Make<ChatSession>(tokenizer, text_session);
}

}  // namespace owml
