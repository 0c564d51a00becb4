// IWinMLTextGenerationResult: what a finished generation produced, for any thread and for ever.
// Made by the stream when it has completed.
#pragma once

#include "com/com_ptr.h"
#include "tasks/text_generation/generation.h"

namespace owml {

ComPtr<IWinMLTextGenerationResult> MakeGenerationResult(const GenerationOutcome& outcome);

}  // namespace owml
