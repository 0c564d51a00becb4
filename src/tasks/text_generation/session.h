// IWinMLTextGenerationSession and its views over one sequence.
// Made by a task; belongs to the thread that made it.
#pragma once

#include <memory>

#include "com/com_ptr.h"
#include "tasks/text_generation/sequence.h"

namespace owml {

ComPtr<IWinMLTextGenerationSession> MakeSession(std::shared_ptr<Sequence> sequence, IWinMLRuntime* runtime,
                                                ComPtr<IWinMLTextGenerationConfiguration> configuration,
                                                ComPtr<IWinMLStage> token_stage);

}  // namespace owml
