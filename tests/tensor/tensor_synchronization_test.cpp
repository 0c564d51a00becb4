// The ready fence of a tensor: stored, replaced, cleared, released with it.
// Host tensors are never waited for; the fence is kept for whoever reads it.
#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

// A fence of the application's.
class FenceObject final : public IWinMLFence {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }
  HRESULT STDMETHODCALLTYPE Wait(UINT32) override { return HRESULT_FROM_WIN32(WAIT_TIMEOUT); }
  HRESULT STDMETHODCALLTYPE IsComplete(BOOL* complete) override {
    *complete = FALSE;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetD3D12Fence(IUnknown** fence) override {
    *fence = nullptr;
    return E_NOT_VALID_STATE;
  }
  HRESULT STDMETHODCALLTYPE GetCompletionValue(UINT64* value) override {
    *value = 0;
    return S_OK;
  }

  ULONG references = 1;
};

class TensorSynchronization : public testing::Test {
 protected:
  FenceObject first_, second_;
  ComPtr<IWinMLTensor> tensor_ = Int32({1}, {3});
  ComPtr<IWinMLTensorSynchronization> sync_ = Query<IWinMLTensorSynchronization>(tensor_.Get());
};

TEST_F(TensorSynchronization, ThereIsNoFenceAtFirst) {
  IWinMLFence* fence = &first_;
  EXPECT_EQ(S_OK, sync_->GetReadyFence(&fence));
  EXPECT_EQ(fence, nullptr);
  ExpectError(E_POINTER, sync_->GetReadyFence(nullptr), "readyFence is null");
}

TEST_F(TensorSynchronization, KeepsReplacesAndClearsTheFence) {
  ASSERT_EQ(S_OK, sync_->SetReadyFence(&first_));
  EXPECT_EQ(first_.references, 2u);
  ComPtr<IWinMLFence> got;
  ASSERT_EQ(S_OK, sync_->GetReadyFence(got.GetAddressOf()));
  EXPECT_EQ(got.Get(), &first_);
  EXPECT_EQ(first_.references, 3u);
  got.Reset();
  ASSERT_EQ(S_OK, sync_->SetReadyFence(&second_));
  EXPECT_EQ(first_.references, 1u);
  EXPECT_EQ(second_.references, 2u);
  ASSERT_EQ(S_OK, sync_->SetReadyFence(nullptr));
  EXPECT_EQ(second_.references, 1u);
  ASSERT_EQ(S_OK, sync_->GetReadyFence(got.GetAddressOf()));
  EXPECT_EQ(got.Get(), nullptr);
}

TEST_F(TensorSynchronization, ReleasesTheFenceWithTheTensor) {
  ASSERT_EQ(S_OK, sync_->SetReadyFence(&first_));
  sync_.Reset();
  tensor_.Reset();
  EXPECT_EQ(first_.references, 1u);
}

TEST_F(TensorSynchronization, AnOpenFenceDoesNotHoldUpDirectAccess) {
  ASSERT_EQ(S_OK, sync_->SetReadyFence(&first_));
  EXPECT_EQ(Contents<int32_t>(tensor_.Get()), std::vector<int32_t>{3});
}

}  // namespace
}  // namespace owml::test
