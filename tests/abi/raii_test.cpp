// WinMLRuntimeRAII.h over objects written here: results, references, exceptions with the sentence.
// Part of tests_abi; the same header over the real runtime is tested with the installed package.
#include <WinMLRuntimeRAII.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "abi/counted_object.h"
#include "com/error_info.h"

// tests_abi stands on the static libraries only; Runtime::Create is not called here.
WINML_API HRESULT STDMETHODCALLTYPE WinMLCreateRuntime(REFIID, void** runtime) WINML_NOEXCEPT {
  *runtime = nullptr;
  return E_NOTIMPL;
}

namespace {

using owml::test::CountedObject;

// A stage that is also its ORT options, to see what the projections call.
class OrtStage final : public IWinMLStage, public IWinMLOrtStageOptions {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** out) override {
    *out = riid == __uuidof(IWinMLOrtStageOptions) ? static_cast<void*>(static_cast<IWinMLOrtStageOptions*>(this))
                                                   : nullptr;
    if (*out == nullptr) return E_NOINTERFACE;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }

  HRESULT STDMETHODCALLTYPE GetDebugName(LPCWSTR* name) override {
    *name = L"encoder";
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE BindInput(UINT32, IWinMLTensor* tensor) override { return tensor ? S_OK : S_FALSE; }
  HRESULT STDMETHODCALLTYPE BindOutput(UINT32, IWinMLTensor*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetOutput(UINT32, IWinMLTensor**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE RequestOutput(UINT32 index) override {
    owml::SetThreadError(E_INVALIDARG, "IWinMLStage::RequestOutput",
                         "output " + std::to_string(index) + " is out of range");
    return E_INVALIDARG;
  }
  HRESULT STDMETHODCALLTYPE ResetOutput(UINT32) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetExecutionTarget(IWinMLExecutionTarget** out) override {
    *out = target.Target();
    target.AddRef();
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE SetProviderOption(LPCWSTR key, LPCWSTR value) override {
    calls += std::wstring(L"provider ") + key + L"=" + value + L";";
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetSessionConfigEntry(LPCWSTR key, LPCWSTR value) override {
    calls += std::wstring(L"session ") + key + L"=" + value + L";";
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetSharedContextGroup(LPCWSTR name) override {
    calls += std::wstring(L"group ") + name + L";";
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE ClearSharedContextGroup() override {
    calls += L"clear;";
    return S_OK;
  }

  ULONG references = 0;
  CountedObject target;
  std::wstring calls;
};

TEST(RaiiWrappers, ResultsAreOwned) {
  OrtStage object;
  {
    const WinML::Stage stage(&object);
    const WinML::ExecutionTarget target = stage.GetExecutionTarget();
    EXPECT_EQ(object.target.references, 1u);
    EXPECT_EQ(target.GetKind(), WINML_EXECUTION_TARGET_KIND_NPU);
    EXPECT_EQ(stage.GetDebugName(), L"encoder");
  }
  EXPECT_EQ(object.references, 0u);
  EXPECT_EQ(object.target.references, 0u);
}

TEST(RaiiWrappers, OrtOptionsAreMethodsOfTheStage) {
  OrtStage object;
  const WinML::Stage stage(&object);
  stage.SetOrtProviderOption(L"device", std::wstring(L"0"));
  stage.SetOrtSessionConfigEntry(L"session.log_severity_level", L"3");
  stage.SetOrtSharedContextGroup(L"both");
  stage.ClearOrtSharedContextGroup();
  EXPECT_EQ(object.calls, L"provider device=0;session session.log_severity_level=3;group both;clear;");
  EXPECT_EQ(object.references, 1u) << "the queried interface was released";
}

TEST(RaiiWrappers, FailuresThrowTheSentenceWithMethodAndCode) {
  OrtStage object;
  const WinML::Stage stage(&object);
  try {
    stage.RequestOutput(7);
    FAIL() << "a failure throws";
  } catch (const WinML::Error& error) {
    EXPECT_EQ(error.Code(), E_INVALIDARG);
    EXPECT_STREQ(error.what(), "IWinMLStage::RequestOutput: output 7 is out of range (0x80070057)");
  }
}

TEST(RaiiWrappers, SuccessCodesComeThrough) {
  OrtStage object;
  const WinML::Stage stage(&object);
  EXPECT_EQ(stage.BindInput(0, nullptr), S_FALSE);
}

TEST(RaiiWrappers, AnEmptyWrapperThrowsInsteadOfCrashing) {
  const WinML::Stage empty;
  EXPECT_FALSE(empty);
  EXPECT_THROW(empty.GetDebugName(), WinML::Error);
  EXPECT_THROW(empty.As<WinML::StageSchema>(), WinML::Error);
  EXPECT_FALSE(empty.TryAs<WinML::StageSchema>());
}

TEST(RaiiWrappers, AbsentInterfacesThrowOrAreEmpty) {
  CountedObject object;
  const WinML::ExecutionTarget target(object.Target());
  EXPECT_TRUE(target.As<WinML::Model>());
  EXPECT_FALSE(target.TryAs<WinML::Tensor>());
  EXPECT_THROW(target.As<WinML::Tensor>(), WinML::Error);
  EXPECT_EQ(object.references, 1u);
}

}  // namespace
