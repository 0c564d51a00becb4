// Greedy choice of the next token with state in the caller's shapes: a sequence length or a causal mask.
// Made by the tensor processor factory.
#pragma once

#include <WinMLRuntime.h>

#include "com/com_ptr.h"

namespace owml {

// Input: logits [1, vocabulary]. Throws E_POINTER, E_INVALIDARG.
ComPtr<IWinMLProcessor> MakeDecodeGreedyProcessor(uint32_t vocabulary_size, bool logits_are_float32,
                                                  IWinMLTensor* next_token, IWinMLTensor* position,
                                                  IWinMLTensor* step_state, IWinMLTensor* observed_token);

}  // namespace owml
