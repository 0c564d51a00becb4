// Basic types, errors and COM basics; no window system.
// For programs that include <windows.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_WINDOWS_H_
#define WINML_PORTABLE_WINDOWS_H_

#include "winml_portable/memory.h"

#endif  // WINML_PORTABLE_WINDOWS_H_
