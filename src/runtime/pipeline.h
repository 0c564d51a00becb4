// The executable pipeline that Build returns.
// Made by runtime/pipeline_builder.cpp; stage handles work on the same core.
#pragma once

#include <WinMLRuntime.h>

#include <memory>

#include "com/com_ptr.h"
#include "runtime/pipeline_core.h"

namespace owml {

ComPtr<IWinMLPipeline> MakePipeline(std::shared_ptr<PipelineCore> core);

}  // namespace owml
