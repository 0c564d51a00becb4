// The headers as a C program sees them: ids, comparison, calls through lpVtbl and the call macros.
// Called by guid_test.cpp.
#include "iid_from_c.h"

#include <WinMLRuntime.h>

GUID TensorIdSeenFromC(void) { return IID_IWinMLTensor; }

const GUID* AddressOfTensorIdSeenFromC(void) { return &IID_IWinMLTensor; }

HRESULT QueryFromC(IUnknown* object, const IID* iid, void** out) {
  if (IsEqualIID(iid, &IID_IUnknown)) return IUnknown_QueryInterface(object, &IID_IUnknown, out);
  return object->lpVtbl->QueryInterface(object, iid, out);
}

ULONG ReleaseFromC(IUnknown* object) { return IUnknown_Release(object); }
