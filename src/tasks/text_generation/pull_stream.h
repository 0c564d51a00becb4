// IWinMLTextGenerationPullStream over one generation.
// Made by a session for each operation.
#pragma once

#include <memory>

#include "com/com_ptr.h"
#include "tasks/text_generation/generation.h"

namespace owml {

// The stream owns the generation: when its last reference goes, an unfinished generation is abandoned.
ComPtr<IWinMLTextGenerationPullStream> MakePullStream(std::shared_ptr<Sequence> sequence,
                                                      std::shared_ptr<Generation> generation);

}  // namespace owml
