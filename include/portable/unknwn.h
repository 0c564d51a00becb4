// IUnknown, its types and its errors.
// For programs that include <unknwn.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_UNKNWN_H_
#define WINML_PORTABLE_UNKNWN_H_

#include "winml_portable/memory.h"

#endif  // WINML_PORTABLE_UNKNWN_H_
