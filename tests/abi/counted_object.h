// An object that counts its references and whose end can be seen; answers two interfaces.
// Used by the smart-pointer tests of this folder.
#pragma once

#include <WinMLRuntime.h>

namespace owml::test {

// Lives on the stack of the test; `references` shows who holds it.
class CountedObject final : public IWinMLExecutionTarget, public IWinMLModel {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppvObject) override {
    *ppvObject = nullptr;
    if (riid == __uuidof(IUnknown) || riid == __uuidof(IWinMLExecutionTarget)) {
      *ppvObject = static_cast<IWinMLExecutionTarget*>(this);
    } else if (riid == __uuidof(IWinMLModel)) {
      *ppvObject = static_cast<IWinMLModel*>(this);
    } else {
      return E_NOINTERFACE;
    }
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }
  HRESULT STDMETHODCALLTYPE GetKind(WINML_EXECUTION_TARGET_KIND* kind) override {
    *kind = WINML_EXECUTION_TARGET_KIND_NPU;
    return result;
  }

  IWinMLExecutionTarget* Target() { return this; }

  ULONG references = 0;
  HRESULT result = S_OK;
};

}  // namespace owml::test
