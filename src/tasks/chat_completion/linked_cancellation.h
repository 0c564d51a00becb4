// A cancellation source of the task's own that also follows the application's.
// A completion ends its text generation with it at a stop text; the application's source stays as it is.
#pragma once

#include <WinMLTasks.h>

#include "com/com_ptr.h"

namespace owml {

// `outer` may be null.
ComPtr<IWinMLCancellationSource> MakeLinkedCancellation(IWinMLCancellationSource* outer);

}  // namespace owml
