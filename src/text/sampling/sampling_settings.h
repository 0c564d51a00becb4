// What steers the choice of a token; every member's default leaves its step out.
// Filled by the text generation task from its options.
#pragma once

#include <cstdint>

namespace owml {

struct SamplingSettings {
  float temperature = 0;           // 0 = always the highest logit
  uint32_t top_k = 0;              // 0 = off
  float top_p = 1;                 // 0 < p <= 1; 1 = off
  float min_p = 0;                 // 0 <= p <= 1; 0 = off
  float repetition_penalty = 1;    // above 0; 1 = off
  uint32_t repetition_window = 0;  // tokens looked back; 0 = the whole sequence
  float presence_penalty = 0;      // 0 = off
  float frequency_penalty = 0;     // 0 = off
};

}  // namespace owml
