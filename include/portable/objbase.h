// IUnknown, CoTaskMem memory.
// For programs that include <objbase.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_OBJBASE_H_
#define WINML_PORTABLE_OBJBASE_H_

#include "winml_portable/memory.h"

#endif  // WINML_PORTABLE_OBJBASE_H_
