// Sub-formats of WAVEFORMATEXTENSIBLE.
// For programs that include <ksmedia.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_KSMEDIA_H_
#define WINML_PORTABLE_KSMEDIA_H_

#include "mmreg.h"

#endif  // WINML_PORTABLE_KSMEDIA_H_
