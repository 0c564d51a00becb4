// Classes that an application writes with wrl::RuntimeClass or winrt::implements: identity, chains, life.
// Part of tests_abi.
#include <WinMLRuntime.h>
#include <gtest/gtest.h>
#include <winrt/base.h>
#include <wrl.h>

namespace {

using Microsoft::WRL::ChainInterfaces;
using Microsoft::WRL::ClassicCom;
using Microsoft::WRL::ComPtr;
using Microsoft::WRL::RuntimeClass;
using Microsoft::WRL::RuntimeClassFlags;

int alive = 0;

class Lock final
    : public RuntimeClass<RuntimeClassFlags<ClassicCom>,
                          ChainInterfaces<IWinMLTensorSynchronizedDataLock, IWinMLTensorDataLock>, IWinMLModel> {
 public:
  explicit Lock(UINT64 size = 0) : size_(size) { ++alive; }
  ~Lock() override { --alive; }
  HRESULT RuntimeClassInitialize(UINT64 size) {
    size_ = size;
    return size ? S_OK : E_INVALIDARG;
  }
  HRESULT STDMETHODCALLTYPE GetData(BYTE** data, UINT64* dataSizeInBytes) override {
    *data = nullptr;
    *dataSizeInBytes = size_;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE Commit() override { return S_OK; }

 private:
  UINT64 size_;
};

TEST(WrlRuntimeClass, AnswersEveryInterfaceOfAChainAndEndsWithTheLastReference) {
  {
    ComPtr<Lock> object = Microsoft::WRL::Make<Lock>(12);
    EXPECT_EQ(alive, 1);
    ComPtr<IWinMLTensorDataLock> base;
    ComPtr<IWinMLTensorSynchronizedDataLock> derived;
    ComPtr<IWinMLModel> model;
    ASSERT_EQ(object.As(&base), S_OK);
    ASSERT_EQ(object.As(&derived), S_OK);
    ASSERT_EQ(object.As(&model), S_OK);
    object = nullptr;
    BYTE* data = nullptr;
    UINT64 size = 0;
    ASSERT_EQ(base->GetData(&data, &size), S_OK);
    EXPECT_EQ(size, 12u);
    ComPtr<IUnknown> one, two;
    ASSERT_EQ(base.As(&one), S_OK);
    ASSERT_EQ(model.As(&two), S_OK);
    EXPECT_EQ(one, two) << "one identity";
    ComPtr<IWinMLTensor> tensor;
    EXPECT_EQ(base.As(&tensor), E_NOINTERFACE);
  }
  EXPECT_EQ(alive, 0);
}

TEST(WrlRuntimeClass, AFailedInitialisationLeavesNothing) {
  ComPtr<IWinMLModel> model;
  EXPECT_EQ(Microsoft::WRL::MakeAndInitialize<Lock>(&model, UINT64{0}), E_INVALIDARG);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(alive, 0);
}

struct Target : winrt::implements<Target, IWinMLExecutionTarget, IWinMLModel> {
  Target() { ++alive; }
  ~Target() override { --alive; }
  HRESULT STDMETHODCALLTYPE GetKind(WINML_EXECUTION_TARGET_KIND* kind) noexcept override {
    *kind = WINML_EXECUTION_TARGET_KIND_GPU;
    return S_OK;
  }
};

TEST(WrlAndWinrt, MakeGivesTheFirstInterfaceAndMakeSelfTheClass) {
  {
    const winrt::com_ptr<IWinMLExecutionTarget> target = winrt::make<Target>();
    EXPECT_TRUE(target.as<IWinMLModel>());
    const winrt::com_ptr<Target> self = winrt::make_self<Target>();
    EXPECT_EQ(self->get_strong(), self);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
