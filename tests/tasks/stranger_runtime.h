// A Runtime that an application wrote, with a reference count that tests read.
// Used by tests of the task bootstrap, which takes any Runtime.
#pragma once

#include <WinMLRuntime.h>

#include <atomic>

namespace owml::test {

class StrangerRuntime final : public IWinMLRuntime {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (!object) return E_POINTER;
    const bool known = IsEqualIID(iid, IID_IUnknown) || IsEqualIID(iid, IID_IWinMLRuntime);
    *object = known ? this : nullptr;
    if (known) AddRef();
    return known ? S_OK : E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }

  HRESULT STDMETHODCALLTYPE LoadModelFromFile(LPCWSTR, IWinMLResourceMapReader*, IWinMLModel**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE LoadModelFromBuffer(const BYTE*, UINT64, IWinMLResourceMapReader*, IWinMLModel**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreatePipelineBuilder(IWinMLPipelineBuilder**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CreateCpuExecutionTarget(IWinMLExecutionTarget**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CreateExecutionTargetFromAdapter(IUnknown*, IWinMLExecutionTarget**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateExecutionTargetFromD3D12(IUnknown*, IUnknown*, IWinMLExecutionTarget**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateExecutionTarget(WINML_EXECUTION_TARGET_KIND, WINML_EXECUTION_TARGET_PREFERENCE,
                                                  IWinMLExecutionTarget**) override {
    return E_NOTIMPL;
  }

  std::atomic<ULONG> references{1};
};

}  // namespace owml::test
