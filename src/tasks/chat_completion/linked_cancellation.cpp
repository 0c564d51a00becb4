// Cancelled when either is.
// See linked_cancellation.h.
#include "tasks/chat_completion/linked_cancellation.h"

#include <atomic>

#include "com/guard.h"
#include "com/implements.h"

namespace owml {
namespace {

class LinkedCancellation final : public Implements<LinkedCancellation, IWinMLCancellationSource> {
 public:
  explicit LinkedCancellation(IWinMLCancellationSource* outer) : outer_(outer) {}

  HRESULT STDMETHODCALLTYPE Cancel() noexcept override {
    canceled_.store(true, std::memory_order_release);
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE GetIsCanceled(BOOL* isCanceled) noexcept override {
    return Guard("IWinMLCancellationSource::GetIsCanceled", [&]() -> HRESULT {
      RequireOut(isCanceled, "isCanceled");
      *isCanceled = canceled_.load(std::memory_order_acquire) ? TRUE : FALSE;
      return *isCanceled || !outer_ ? S_OK : outer_->GetIsCanceled(isCanceled);
    });
  }

 private:
  const ComPtr<IWinMLCancellationSource> outer_;
  std::atomic<bool> canceled_{false};
};

}  // namespace

ComPtr<IWinMLCancellationSource> MakeLinkedCancellation(IWinMLCancellationSource* outer) {
  return Make<LinkedCancellation>(outer);
}

}  // namespace owml
