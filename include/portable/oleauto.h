// BSTR strings and the error object.
// For programs that include <oleauto.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_OLEAUTO_H_
#define WINML_PORTABLE_OLEAUTO_H_

#include "winml_portable/memory.h"

#endif  // WINML_PORTABLE_OLEAUTO_H_
