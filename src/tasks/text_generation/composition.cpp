// Names for sentences.
// See composition.h; the checks are in composition_check.cpp.
#include "tasks/text_generation/composition.h"

namespace owml {

const char* PhaseName(WINML_TEXT_GENERATION_PIPELINE_PHASE phase) {
  switch (phase) {
    case WINML_TEXT_GENERATION_PIPELINE_PHASE_UNIFIED:
      return "unified";
    case WINML_TEXT_GENERATION_PIPELINE_PHASE_PREFILL:
      return "prefill";
    case WINML_TEXT_GENERATION_PIPELINE_PHASE_DECODE:
      return "decode";
  }
  return "unknown";
}

}  // namespace owml
