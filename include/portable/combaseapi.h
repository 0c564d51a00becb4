// IUnknown, CoTaskMem memory.
// For programs that include <combaseapi.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_COMBASEAPI_H_
#define WINML_PORTABLE_COMBASEAPI_H_

#include "winml_portable/memory.h"

#endif  // WINML_PORTABLE_COMBASEAPI_H_
