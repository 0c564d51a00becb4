// Version of the libraries, and how many of their objects are alive.
// For tests, bug reports and bindings; exported by libwinml_runtime.
#ifndef OPENWINML_DIAGNOSTICS_H_
#define OPENWINML_DIAGNOSTICS_H_

#include "platform.h"

/// COM objects of this process made by the OpenWinML libraries and not yet released for good.
OWML_API UINT64 OwmlLiveObjectCount(void);

/// Version of the library that is loaded; any pointer may be null.
OWML_API void OwmlGetVersion(UINT32* major, UINT32* minor, UINT32* patch);

/// "major.minor.patch"; a constant.
OWML_API const char* OwmlGetVersionString(void);

#endif  // OPENWINML_DIAGNOSTICS_H_
