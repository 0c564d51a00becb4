// Greedy choice of the next token into a ring that holds the whole sequence.
// Made by the tensor processor factory.
#pragma once

#include <WinMLRuntime.h>

#include "com/com_ptr.h"

namespace owml {

// Input: logits [1, vocabulary]. Throws E_POINTER, E_INVALIDARG.
ComPtr<IWinMLProcessor> MakeDecodeSampleProcessor(uint32_t vocabulary_size, bool logits_are_float32,
                                                  IWinMLTensor* token_ring, IWinMLTensor* position,
                                                  IWinMLTensor* sequence_length, IWinMLTensor* observed_token);

}  // namespace owml
