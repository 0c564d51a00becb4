// Puts an application's source where a session can look at it.
// See stage_cancellation.h.
#include "runtime/stage_cancellation.h"

#include "com/guard.h"

namespace owml {
namespace {

class SourceCheck final : public CancellationCheck {
 public:
  explicit SourceCheck(IWinMLCancellationSource* source) : source_(source) {}

  // A source that fails does not end a run; who drives the run asks it as well.
  bool canceled() noexcept override {
    BOOL canceled = FALSE;
    return SUCCEEDED(source_->GetIsCanceled(&canceled)) && canceled;
  }

 private:
  const ComPtr<IWinMLCancellationSource> source_;
};

}  // namespace

HRESULT StageCancellationMethods::SetCancellationSource(IWinMLCancellationSource* source) noexcept {
  return Guard("IOwmlStageCancellation::SetCancellationSource", [&] {
    RequireBuilt(*stage().core);
    const ExclusiveUse use(*stage().core);
    const StageNode& node = *stage().node;
    CancellableRuns* const runs = node.session ? node.session->cancellable_runs() : nullptr;
    Require(runs != nullptr, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), node.label + " cannot end a run early");
    runs->Watch(source ? std::make_shared<SourceCheck>(source) : nullptr);
  });
}

}  // namespace owml
