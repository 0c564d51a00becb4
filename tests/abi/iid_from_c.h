// What the C half of the test program tells the C++ half.
// Called by guid_test.cpp.
#pragma once

#include <unknwn.h>

#ifdef __cplusplus
extern "C" {
#endif
GUID TensorIdSeenFromC(void);
const GUID* AddressOfTensorIdSeenFromC(void);
HRESULT QueryFromC(IUnknown* object, const IID* iid, void** out);
ULONG ReleaseFromC(IUnknown* object);
#ifdef __cplusplus
}
#endif
