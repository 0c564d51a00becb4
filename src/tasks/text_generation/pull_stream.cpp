// Hands out updates; owns the fragment until the next call.
// See pull_stream.h.
#include "tasks/text_generation/pull_stream.h"

#include <string>
#include <utility>

#include "com/guard.h"
#include "com/implements.h"
#include "tasks/text_generation/result.h"

namespace owml {
namespace {

class PullStream final : public Implements<PullStream, IWinMLTextGenerationPullStream> {
 public:
  PullStream(std::shared_ptr<Sequence> sequence, std::shared_ptr<Generation> generation)
      : sequence_(std::move(sequence)), generation_(std::move(generation)) {}

  HRESULT STDMETHODCALLTYPE ReadNext(WINML_TEXT_GENERATION_READ_STATUS* status, UINT32* tokenId,
                                     LPCWSTR* fragment) noexcept override {
    return Guard("IWinMLTextGenerationPullStream::ReadNext", [&] {
      if (status) *status = WINML_TEXT_GENERATION_READ_STATUS_COMPLETED;
      if (tokenId) *tokenId = 0;
      if (fragment) *fragment = nullptr;
      RequirePointer(status, "status");
      RequirePointer(tokenId, "tokenId");
      RequirePointer(fragment, "fragment");
      Generation& generation = Open();
      Require(!generation.running(), E_NOT_VALID_STATE, "the stream is being read already");
      auto update = generation.Next();
      if (!update) return;
      fragment_ = std::move(update->fragment);
      *status = WINML_TEXT_GENERATION_READ_STATUS_UPDATE;
      *tokenId = update->token;
      *fragment = fragment_.c_str();
    });
  }

  HRESULT STDMETHODCALLTYPE GetResult(IWinMLTextGenerationResult** result) noexcept override {
    return Guard("IWinMLTextGenerationPullStream::GetResult", [&] {
      RequireOut(result, "result");
      Generation& generation = Open();
      Require(generation.completed(), E_NOT_VALID_STATE,
              "the generation has not completed; call ReadNext until it says so");
      if (!result_) result_ = MakeGenerationResult(generation.outcome());
      *result = AddedRef(result_.Get());
    });
  }

  // Abandoned, a generation leaves what the model has consumed, and the sequence knows that.
  HRESULT STDMETHODCALLTYPE Close() noexcept override {
    return Guard("IWinMLTextGenerationPullStream::Close", [&] {
      sequence_->thread().Check();
      Require(!generation_ || !generation_->running(), E_NOT_VALID_STATE, "the stream is being read");
      generation_.reset();
      result_.Reset();
      fragment_.clear();
    });
  }

 private:
  Generation& Open() const {
    sequence_->thread().Check();
    Require(generation_ != nullptr, E_NOT_VALID_STATE, "the stream is closed");
    return *generation_;
  }

  const std::shared_ptr<Sequence> sequence_;
  std::shared_ptr<Generation> generation_;  // null = closed
  ComPtr<IWinMLTextGenerationResult> result_;
  std::wstring fragment_;
};

}  // namespace

ComPtr<IWinMLTextGenerationPullStream> MakePullStream(std::shared_ptr<Sequence> sequence,
                                                      std::shared_ptr<Generation> generation) {
  return Make<PullStream>(std::move(sequence), std::move(generation));
}

}  // namespace owml
