// Ctrl-C as a cancellation source for the tasks.
// Handed to each generation of generate and chat; lives on the stack, longer than they do.
#pragma once

#include <WinMLTasks.h>

#include "interrupt.h"

namespace owml::cli {

class InterruptSource final : public IWinMLCancellationSource {
 public:
  virtual ~InterruptSource() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (!object) return E_POINTER;
    *object = nullptr;
    if (iid != __uuidof(IUnknown) && iid != __uuidof(IWinMLCancellationSource)) return E_NOINTERFACE;
    *object = static_cast<IWinMLCancellationSource*>(this);
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE Cancel() override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetIsCanceled(BOOL* is_canceled) override {
    *is_canceled = InterruptScope::Requested() ? TRUE : FALSE;
    return S_OK;
  }
};

}  // namespace owml::cli
