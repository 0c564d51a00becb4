// A fence without a device behind it.
// See fence.h.
#include "runtime/fence.h"

#include "com/guard.h"
#include "com/implements.h"

namespace owml {
namespace {

class CompletedFence final : public Implements<CompletedFence, IWinMLFence> {
 public:
  HRESULT STDMETHODCALLTYPE Wait(UINT32) noexcept override { return S_OK; }

  HRESULT STDMETHODCALLTYPE IsComplete(BOOL* complete) noexcept override {
    return Guard("IWinMLFence::IsComplete", [&] {
      RequireOut(complete, "complete");
      *complete = TRUE;
    });
  }

  HRESULT STDMETHODCALLTYPE GetD3D12Fence(IUnknown** fence) noexcept override {
    return Guard("IWinMLFence::GetD3D12Fence", [&] {
      RequireOut(fence, "fence");
      throw Error(E_NOT_VALID_STATE, "the work was complete from the start; there is no D3D12 fence");
    });
  }

  // Spec-open: the completion value of a fence without a device is 0.
  HRESULT STDMETHODCALLTYPE GetCompletionValue(UINT64* value) noexcept override {
    return Guard("IWinMLFence::GetCompletionValue", [&] { RequireOut(value, "value"); });
  }
};

}  // namespace

ComPtr<IWinMLFence> MakeCompletedFence() { return Make<CompletedFence>(); }

}  // namespace owml
