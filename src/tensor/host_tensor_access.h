// The private interface by which our own code recognises a host tensor and reaches its bytes without an allocation.
// Asked for by TensorAccess and the lock object; never shown to applications.
#pragma once

#include <unknwn.h>

#include "base/tensor_view.h"
#include "tensor/tensor_access.h"

namespace owml {

MIDL_INTERFACE("5a1d9c37-4be2-4f0e-9d63-7c08e1a2b65f")
HostTensorAccess : public IUnknown {
 public:
  // The same for the tensor's whole life; the bytes may be touched under a lock only.
  virtual const TensorView& View() const noexcept = 0;

  // Never waits. E_ACCESSDENIED: writing a read-only view. ERROR_LOCKED: a conflicting lock is open.
  virtual HRESULT TryLock(AccessMode mode) noexcept = 0;

  // Once for each successful TryLock, with its mode.
  virtual void Unlock(AccessMode mode) noexcept = 0;

 protected:
  ~HostTensorAccess() = default;
};

// TryLock that throws; the sentence starts with `what`.
void LockOrThrow(HostTensorAccess& tensor, AccessMode mode, const char* what);

}  // namespace owml

#ifdef __CRT_UUID_DECL
__CRT_UUID_DECL(owml::HostTensorAccess, 0x5a1d9c37, 0x4be2, 0x4f0e, 0x9d, 0x63, 0x7c, 0x08, 0xe1, 0xa2, 0xb6, 0x5f)
#endif
