// GUID and its comparison.
// For programs that include <guiddef.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_GUIDDEF_H_
#define WINML_PORTABLE_GUIDDEF_H_

#include "winml_portable/types.h"

#endif  // WINML_PORTABLE_GUIDDEF_H_
