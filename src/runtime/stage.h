// The handle of one stage: a single object with every interface that its kind of stage offers.
// Made by runtime/pipeline_builder.cpp; usable before and after Build, and after builder and pipeline are gone.
#pragma once

#include <WinMLRuntime.h>

#include "com/com_ptr.h"
#include "runtime/pipeline_core.h"

namespace owml {

ComPtr<IWinMLStage> MakeStage(StageRef stage);

// The stage behind one of our handles, or null for an application's object. Lives as long as the handle.
const StageRef* StageOf(IWinMLStage* stage);

}  // namespace owml
