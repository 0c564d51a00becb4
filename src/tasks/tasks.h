// The Task entry object: the runtime it belongs to, and cancellation sources. The task factories join it as they are
// built. Made by src/exports/winml_tasks.cpp.
#pragma once

#include <WinMLTasks.h>

#include "com/com_ptr.h"

namespace owml {

ComPtr<IWinMLTasks> MakeTasks(IWinMLRuntime* runtime);

}  // namespace owml
