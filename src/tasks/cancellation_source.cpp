// IWinMLCancellationSource; once cancelled it stays so.
// See cancellation_source.h.
#include "tasks/cancellation_source.h"

#include <atomic>

#include "com/guard.h"
#include "com/implements.h"

namespace owml {
namespace {

class CancellationSource final : public Implements<CancellationSource, IWinMLCancellationSource> {
 public:
  HRESULT STDMETHODCALLTYPE Cancel() noexcept override {
    canceled_.store(true, std::memory_order_release);
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE GetIsCanceled(BOOL* isCanceled) noexcept override {
    return Guard("IWinMLCancellationSource::GetIsCanceled", [&] {
      RequireOut(isCanceled, "isCanceled");
      *isCanceled = canceled_.load(std::memory_order_acquire) ? TRUE : FALSE;
    });
  }

 private:
  std::atomic<bool> canceled_{false};
};

}  // namespace

ComPtr<IWinMLCancellationSource> MakeCancellationSource() { return Make<CancellationSource>(); }

}  // namespace owml
