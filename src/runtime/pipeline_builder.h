// Collects stages and edges, then makes a pipeline of them.
// Made by IWinMLRuntime::CreatePipelineBuilder.
#pragma once

#include <WinMLRuntime.h>

#include "com/com_ptr.h"

namespace owml {

ComPtr<IWinMLPipelineBuilder> MakePipelineBuilder();

}  // namespace owml
