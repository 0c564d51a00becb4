// The error object.
// For programs that include <oaidl.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_OAIDL_H_
#define WINML_PORTABLE_OAIDL_H_

#include "winml_portable/memory.h"

#endif  // WINML_PORTABLE_OAIDL_H_
