// Reader counting and the direct CPU lock.
// Host memory is always direct: nothing is staged, whatever the flags permit.
#include "tensor/tensor_lock.h"

#include <limits>
#include <string>

#include "com/guard.h"
#include "com/implements.h"
#include "tensor/host_tensor_access.h"

namespace owml {
namespace {

// Offers no IWinMLTensorSynchronizedDataLock, even where the synchronized flag was given: writes are in place already,
// and a caller takes E_NOINTERFACE as "nothing to commit" (a Commit that answers E_NOT_VALID_STATE would look like a
// failure).
class TensorDataLock final : public Implements<TensorDataLock, IWinMLTensorDataLock> {
 public:
  TensorDataLock(HostTensorAccess* tensor, AccessMode mode, const char* what) : mode_(mode) {
    LockOrThrow(*tensor, mode, what);
    tensor_ = tensor;
  }
  ~TensorDataLock() {
    if (tensor_) tensor_->Unlock(mode_);
  }

  HRESULT STDMETHODCALLTYPE GetData(BYTE** data, UINT64* dataSizeInBytes) noexcept override {
    return Guard("IWinMLTensorDataLock::GetData", [&] {
      if (data) *data = nullptr;
      if (dataSizeInBytes) *dataSizeInBytes = 0;
      RequirePointer(data, "data");
      RequirePointer(dataSizeInBytes, "dataSizeInBytes");
      const TensorView& view = tensor_->View();
      *data = reinterpret_cast<BYTE*>(view.data);
      *dataSizeInBytes = view.bytes;
    });
  }

 private:
  ComPtr<HostTensorAccess> tensor_;
  AccessMode mode_;
};

}  // namespace

bool TensorLockState::TryLock(AccessMode mode) noexcept {
  int32_t holders = 0;
  if (mode != AccessMode::kRead) return holders_.compare_exchange_strong(holders, -1, std::memory_order_acquire);
  holders = holders_.load(std::memory_order_relaxed);
  while (holders >= 0 && holders < std::numeric_limits<int32_t>::max()) {
    if (holders_.compare_exchange_weak(holders, holders + 1, std::memory_order_acquire)) return true;
  }
  return false;
}

void TensorLockState::Unlock(AccessMode mode) noexcept {
  if (mode == AccessMode::kRead) {
    holders_.fetch_sub(1, std::memory_order_release);
  } else {
    holders_.store(0, std::memory_order_release);
  }
}

void LockOrThrow(HostTensorAccess& tensor, AccessMode mode, const char* what) {
  const HRESULT result = tensor.TryLock(mode);
  if (SUCCEEDED(result)) return;
  throw Error(result,
              std::string(what) + (result == E_ACCESSDENIED    ? ": the tensor is a read-only view"
                                   : mode == AccessMode::kRead ? ": the tensor is locked for writing"
                                                               : ": the tensor is locked, and writing needs it alone"));
}

ComPtr<IWinMLTensorDataLock> MakeTensorDataLock(HostTensorAccess* tensor, AccessMode mode, const char* what) {
  return Make<TensorDataLock>(tensor, mode, what);
}

}  // namespace owml
