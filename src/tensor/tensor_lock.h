// Lock rules of a tensor (many readers or one writer, nobody waits) and the lock object that applications hold.
// Used by host tensors.
#pragma once

#include <WinMLTensor.h>

#include <atomic>
#include <cstdint>

#include "tensor/tensor_access.h"

namespace owml {

// Safe from any thread. What a writer wrote is visible to who locks after it.
class TensorLockState {
 public:
  // False on a conflict, also with a lock of the same thread.
  bool TryLock(AccessMode mode) noexcept;
  void Unlock(AccessMode mode) noexcept;

 private:
  std::atomic<int32_t> holders_{0};  // readers, or -1 for a writer
};

// Takes the lock; it opens with the object's last Release. The object keeps the tensor alive.
// Throws ERROR_LOCKED or E_ACCESSDENIED; the sentence starts with `what`.
ComPtr<IWinMLTensorDataLock> MakeTensorDataLock(HostTensorAccess* tensor, AccessMode mode, const char* what);

}  // namespace owml
