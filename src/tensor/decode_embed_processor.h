// Embedding lookup for a decode loop: copies the row of the current token out of the table.
// Made by the tensor processor factory.
#pragma once

#include <WinMLRuntime.h>

#include "com/com_ptr.h"

namespace owml {

// Inputs: table [vocabulary, hidden] of hiddenOutput's type, tokens INT32 [capacity], position INT32 scalar.
// Throws E_POINTER, E_INVALIDARG.
ComPtr<IWinMLProcessor> MakeDecodeEmbedProcessor(uint32_t vocabulary_size, uint32_t hidden_size,
                                                 uint64_t sequence_capacity, IWinMLTensor* hidden_output);

}  // namespace owml
