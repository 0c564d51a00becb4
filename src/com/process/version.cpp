// Version of the libraries, as built.
// Exported by the runtime library.
#include <openwinml/diagnostics.h>

extern "C" {

void OwmlGetVersion(UINT32* major, UINT32* minor, UINT32* patch) {
  if (major) *major = OWML_VERSION_MAJOR;
  if (minor) *minor = OWML_VERSION_MINOR;
  if (patch) *patch = OWML_VERSION_PATCH;
}

const char* OwmlGetVersionString(void) { return OWML_VERSION_STRING; }

}  // extern "C"
