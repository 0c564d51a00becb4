// Fuzz target: any bytes as a grammar (an even first byte) or a regular expression; what compiles must have no dead
// ends. Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "exercise_grammar.h"
#include "text/constraint/constraint_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool expression = (data[0] & 1) != 0;
  owml::fuzz::ExerciseGrammar(expression ? owml::text::ConstraintRequest::kRegex : owml::text::ConstraintRequest::kGbnf,
                              text, text);
  return 0;
}
