// IWinMLTextGenerationTask: a tokenizer and its end tokens, and the way to sessions.
// Made by the factory; good for any thread.
#pragma once

#include <WinMLTasks.h>

#include <span>

#include "com/com_ptr.h"

namespace owml {

// Throws E_INVALIDARG for an unknown policy or a list together with TOKENIZER_DEFAULT, E_NOINTERFACE when the tokenizer
// names no end tokens but is to.
ComPtr<IWinMLTextGenerationTask> MakeTextGenerationTask(IWinMLRuntime* runtime, IWinMLTokenizer* tokenizer,
                                                        WINML_TEXT_GENERATION_EOS_POLICY policy,
                                                        std::span<const uint32_t> eos_tokens);

}  // namespace owml
