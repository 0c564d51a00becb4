// What an application asks of one generation: limits, stop tokens, sampling.
// IWinMLTextGenerationOptions and its plain form, which a generation works with.
#pragma once

#include <WinMLTextGenerationTask.h>

#include <cstdint>
#include <span>
#include <vector>

#include "com/com_ptr.h"
#include "text/sampling/sampling_settings.h"

namespace owml {

struct GenerationOptions {
  uint32_t max_new_tokens = UINT32_MAX;
  SamplingSettings sampling;
  uint64_t seed = 0;  // 0 = another one each time
  std::vector<uint32_t> stop_tokens;
};

// Immutable. Throws E_INVALIDARG for unknown bits, no token limit or a value out of its range.
ComPtr<IWinMLTextGenerationOptions> MakeGenerationOptions(const WINML_TEXT_GENERATION_OPTIONS& values,
                                                          std::span<const uint32_t> stop_tokens);

// Asks any implementation and checks its answers. Spec-open: null stands for greedy generation without a limit of its
// own.
GenerationOptions ReadGenerationOptions(IWinMLTextGenerationOptions* options);

}  // namespace owml
