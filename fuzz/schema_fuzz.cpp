// Fuzz target: any bytes as a JSON Schema; what compiles must have no dead ends.
// Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "exercise_grammar.h"
#include "text/constraint/constraint_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  owml::fuzz::ExerciseGrammar(owml::text::ConstraintRequest::kJsonSchema, text, text);
  return 0;
}
