// A flag that an application sets from any thread and running operations look at.
// Made by IWinMLTasks::CreateCancellationSource.
#pragma once

#include <WinMLTasks.h>

#include "com/com_ptr.h"

namespace owml {

ComPtr<IWinMLCancellationSource> MakeCancellationSource();

}  // namespace owml
