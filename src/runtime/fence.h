// The fence of work that is already complete.
// There for results of later devices; the CPU completes before it answers.
#pragma once

#include <WinMLRuntime.h>

#include "com/com_ptr.h"

namespace owml {

ComPtr<IWinMLFence> MakeCompletedFence();

}  // namespace owml
