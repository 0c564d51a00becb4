// Checks at the edge; the work is done by Generation and Sequence.
// See session.h.
#include "tasks/text_generation/session.h"

#include <WinMLTasks.h>

#include <utility>

#include "com/guard.h"
#include "com/implements.h"
#include "tasks/text_generation/generation.h"
#include "tasks/text_generation/pull_stream.h"
#include "tasks/text_generation/segments.h"
#include "tasks/token_list.h"

namespace owml {
namespace {

constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

class Session final : public Implements<Session, IWinMLTextGenerationSession, IWinMLTaskRuntimeIdentity,
                                        IWinMLTextGenerationSequenceDisclosure, IWinMLTextGenerationConstraintSession,
                                        IWinMLTextGenerationConstraintContinuation> {
 public:
  Session(std::shared_ptr<Sequence> sequence, IWinMLRuntime* runtime,
          ComPtr<IWinMLTextGenerationConfiguration> configuration, ComPtr<IWinMLStage> token_stage)
      : sequence_(std::move(sequence)),
        runtime_(runtime),
        configuration_(std::move(configuration)),
        token_stage_(std::move(token_stage)) {}

  HRESULT STDMETHODCALLTYPE GetState(WINML_TEXT_GENERATION_SESSION_STATE* state) noexcept override {
    return Guard("IWinMLTextGenerationSession::GetState", [&] {
      RequirePointer(state, "state");
      sequence_->thread().Check();
      *state = sequence_->State();
    });
  }

  // Of the session and of the identity view: the signatures are the same.
  HRESULT STDMETHODCALLTYPE GetRuntime(IWinMLRuntime** runtime) noexcept override {
    return Guard("IWinMLTextGenerationSession::GetRuntime", [&] {
      RequireOut(runtime, "runtime");
      sequence_->thread().Check();
      *runtime = AddedRef(runtime_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE GetConfiguration(IWinMLTextGenerationConfiguration** configuration) noexcept override {
    return Guard("IWinMLTextGenerationSession::GetConfiguration", [&] {
      RequireOut(configuration, "configuration");
      sequence_->thread().Check();
      *configuration = AddedRef(configuration_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE GenerateText(LPCWSTR prompt, IWinMLTextGenerationOptions* options,
                                         IWinMLCancellationSource* cancellation,
                                         IWinMLTextGenerationPullStream** stream) noexcept override {
    return Guard("IWinMLTextGenerationSession::GenerateText", [&] {
      RequireOut(stream, "stream");
      RequirePointer(prompt, "prompt");
      RequireReady();
      TokenArray tokens;
      ClearThreadError();
      CheckResult(sequence_->tokenizer()->Encode(prompt, WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS, tokens.count(),
                                                 tokens.ids()),
                  "the tokenizer", "IWinMLTokenizer::Encode");
      GenerationRequest request = {};
      request.prompt = tokens.Take("the tokenizer: IWinMLTokenizer::Encode");
      Start(std::move(request), options, cancellation, stream);
    });
  }

  HRESULT STDMETHODCALLTYPE GenerateTokens(UINT32 tokenCount, const UINT32* tokenIds,
                                           IWinMLTextGenerationOptions* options, IWinMLCancellationSource* cancellation,
                                           IWinMLTextGenerationPullStream** stream) noexcept override {
    return Guard("IWinMLTextGenerationSession::GenerateTokens", [&] {
      RequireOut(stream, "stream");
      Start(TakeTokens(tokenCount, tokenIds), options, cancellation, stream);
    });
  }

  HRESULT STDMETHODCALLTYPE ContinueTokens(UINT32 tokenCount, const UINT32* tokenIds,
                                           IWinMLTextGenerationOptions* options, IWinMLCancellationSource* cancellation,
                                           IWinMLTextGenerationPullStream** stream) noexcept override {
    return Guard("IWinMLTextGenerationSession::ContinueTokens", [&] {
      RequireOut(stream, "stream");
      GenerationRequest request = TakeTokens(tokenCount, tokenIds);
      RequireContinuable();
      request.continues = true;
      Start(std::move(request), options, cancellation, stream);
    });
  }

  HRESULT STDMETHODCALLTYPE Reset() noexcept override {
    return Guard("IWinMLTextGenerationSession::Reset", [&] {
      sequence_->thread().Check();
      sequence_->Reset();
    });
  }

  HRESULT STDMETHODCALLTYPE Close() noexcept override {
    return Guard("IWinMLTextGenerationSession::Close", [&] {
      sequence_->thread().Check();
      sequence_->Close();
    });
  }

  HRESULT STDMETHODCALLTYPE CreateMediaEncoderFromFile(LPCWSTR encoderPath, IWinMLExecutionTarget* target,
                                                       IWinMLMediaEncoder** encoder) noexcept override {
    return Guard("IWinMLTextGenerationSession::CreateMediaEncoderFromFile", [&]() -> HRESULT {
      RequireOut(encoder, "encoder");
      RequirePointer(encoderPath, "encoderPath");
      sequence_->thread().Check();
      Require(sequence_->pipelines().unified(), kNotSupported,
              "media need one pipeline for prompt and answer; this session has two");
      const auto segmented = Query<IWinMLSegmentedSequenceStage>(token_stage_.Get());
      Require(segmented != nullptr, kNotSupported, "the stage takes no media (IWinMLSegmentedSequenceStage)");
      return segmented->CreateMediaEncoderFromFile(encoderPath, target, encoder);
    });
  }

  HRESULT STDMETHODCALLTYPE GenerateSegments(UINT32 segmentCount, const WINML_GENERATION_SEGMENT* segments,
                                             IWinMLTextGenerationOptions* options,
                                             IWinMLCancellationSource* cancellation,
                                             IWinMLTextGenerationPullStream** stream) noexcept override {
    return Guard("IWinMLTextGenerationSession::GenerateSegments", [&] {
      RequireOut(stream, "stream");
      Start(TakeSegments(segmentCount, segments), options, cancellation, stream);
    });
  }

  HRESULT STDMETHODCALLTYPE GetCapabilities(WINML_TEXT_GENERATION_CAPABILITIES* capabilities) noexcept override {
    return Guard("IWinMLTextGenerationSession::GetCapabilities", [&] {
      RequireOut(capabilities, "capabilities");
      sequence_->thread().Check();
      *capabilities = sequence_->Capabilities();
    });
  }

  HRESULT STDMETHODCALLTYPE GetSequenceState(WINML_TEXT_GENERATION_SEQUENCE_STATE* state) noexcept override {
    return Guard("IWinMLTextGenerationSequenceDisclosure::GetSequenceState", [&] {
      RequireOut(state, "state");
      sequence_->thread().Check();
      *state = sequence_->Disclosure();
    });
  }

  HRESULT STDMETHODCALLTYPE GetRetainedTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept override {
    return Guard("IWinMLTextGenerationSequenceDisclosure::GetRetainedTokenIds", [&] {
      HandOutTokens({}, tokenCount, tokenIds);
      sequence_->thread().Check();
      HandOutTokens(sequence_->Retained(), tokenCount, tokenIds);
    });
  }

  HRESULT STDMETHODCALLTYPE GenerateTokensWithConstraint(UINT32 tokenCount, const UINT32* tokenIds,
                                                         IWinMLTokenConstraint* constraint,
                                                         IWinMLTextGenerationOptions* options,
                                                         IWinMLCancellationSource* cancellation,
                                                         IWinMLTextGenerationPullStream** stream) noexcept override {
    return Guard("IWinMLTextGenerationConstraintSession::GenerateTokensWithConstraint", [&] {
      RequireOut(stream, "stream");
      RequirePointer(constraint, "constraint");
      GenerationRequest request = TakeTokens(tokenCount, tokenIds);
      request.constraint = constraint;
      Start(std::move(request), options, cancellation, stream);
    });
  }

  HRESULT STDMETHODCALLTYPE GenerateSegmentsWithConstraint(UINT32 segmentCount,
                                                           const WINML_GENERATION_SEGMENT* segments,
                                                           IWinMLTokenConstraint* constraint,
                                                           IWinMLTextGenerationOptions* options,
                                                           IWinMLCancellationSource* cancellation,
                                                           IWinMLTextGenerationPullStream** stream) noexcept override {
    return Guard("IWinMLTextGenerationConstraintSession::GenerateSegmentsWithConstraint", [&] {
      RequireOut(stream, "stream");
      RequirePointer(constraint, "constraint");
      GenerationRequest request = TakeSegments(segmentCount, segments);
      request.constraint = constraint;
      Start(std::move(request), options, cancellation, stream);
    });
  }

  HRESULT STDMETHODCALLTYPE ContinueTokensWithConstraint(UINT32 tokenCount, const UINT32* tokenIds,
                                                         IWinMLTokenConstraint* constraint,
                                                         IWinMLTextGenerationOptions* options,
                                                         IWinMLCancellationSource* cancellation,
                                                         IWinMLTextGenerationPullStream** stream) noexcept override {
    return Guard("IWinMLTextGenerationConstraintContinuation::ContinueTokensWithConstraint", [&] {
      RequireOut(stream, "stream");
      RequirePointer(constraint, "constraint");
      GenerationRequest request = TakeTokens(tokenCount, tokenIds);
      RequireContinuable();
      request.continues = true;
      request.constraint = constraint;
      Start(std::move(request), options, cancellation, stream);
    });
  }

 private:
  void RequireReady() const {
    sequence_->thread().Check();
    sequence_->RequireReady();
  }

  void RequireContinuable() const {
    Require(sequence_->pipelines().unified(), kNotSupported,
            "a sequence of separate prefill and decode pipelines cannot be continued");
    Require(!sequence_->Retained().empty(), E_NOT_VALID_STATE, "no sequence is retained that could be continued");
  }

  // The beginnings of all operations: pointers, then thread and state.
  GenerationRequest TakeTokens(UINT32 count, const UINT32* ids) const {
    if (count != 0) RequirePointer(ids, "tokenIds");
    RequireReady();
    GenerationRequest request = {};
    request.prompt.assign(ids, ids + count);
    return request;
  }

  GenerationRequest TakeSegments(UINT32 count, const WINML_GENERATION_SEGMENT* segments) const {
    if (count != 0) RequirePointer(segments, "segments");
    RequireReady();
    Require(sequence_->pipelines().unified(), kNotSupported,
            "prompts of segments need one pipeline for prompt and answer; this session has two");
    GenerationRequest request = {};
    request.prompt = TokensOfSegments({segments, count});
    return request;
  }

  void Start(GenerationRequest request, IWinMLTextGenerationOptions* options, IWinMLCancellationSource* cancellation,
             IWinMLTextGenerationPullStream** stream) {
    request.options = ReadGenerationOptions(options);
    request.cancellation = cancellation;
    auto generation = std::make_shared<Generation>(sequence_, std::move(request));
    *stream = MakePullStream(sequence_, generation).Detach();
    sequence_->Start(generation);
  }

  const std::shared_ptr<Sequence> sequence_;
  const ComPtr<IWinMLRuntime> runtime_;
  const ComPtr<IWinMLTextGenerationConfiguration> configuration_;
  const ComPtr<IWinMLStage> token_stage_;
};

}  // namespace

ComPtr<IWinMLTextGenerationSession> MakeSession(std::shared_ptr<Sequence> sequence, IWinMLRuntime* runtime,
                                                ComPtr<IWinMLTextGenerationConfiguration> configuration,
                                                ComPtr<IWinMLStage> token_stage) {
  return Make<Session>(std::move(sequence), runtime, std::move(configuration), std::move(token_stage));
}

}  // namespace owml
