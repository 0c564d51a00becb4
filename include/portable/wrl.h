// Smart pointer and class base of the Windows Runtime C++ Template Library.
// For programs that include <wrl.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_WRL_H_
#define WINML_PORTABLE_WRL_H_

#include "wrl/client.h"
#include "wrl/implements.h"

#endif  // WINML_PORTABLE_WRL_H_
