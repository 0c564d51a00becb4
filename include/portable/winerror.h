// HRESULT macros and error codes.
// For programs that include <winerror.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_WINERROR_H_
#define WINML_PORTABLE_WINERROR_H_

#include "winml_portable/errors.h"

#endif  // WINML_PORTABLE_WINERROR_H_
