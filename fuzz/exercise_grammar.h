// What every compiled grammar must keep: from each place that a text can reach there is a way on or the end.
// Used by the fuzz targets of constraints.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/constraint/compiled_constraint.h"
#include "text/constraint/parser_states.h"

namespace owml::fuzz {

// Compiles `value` and writes a text in its grammar, led by the bytes of `choices`.
inline void ExerciseGrammar(const char* syntax, std::string_view value, std::string_view choices) {
  text::ConstraintRequest request;
  request.syntax = syntax;
  request.value = value;
  try {
    const auto program =
        std::make_shared<const text::GrammarProgram>(text::GrammarProgram::Compile(text::ReadConstraint(request)));
    text::ParserStates states(program);
    text::ParserStates::Set set = states.Start();
    for (size_t i = 0; i < 200; ++i) {
      const uint8_t wanted = choices.empty() ? 0 : static_cast<uint8_t>(choices[i % choices.size()] + i);
      text::ParserStates::Set next = text::ParserStates::kDead;
      for (uint32_t step = 0; step < 256 && next == text::ParserStates::kDead; ++step) {
        next = states.Step(set, static_cast<uint8_t>(wanted + step));
      }
      if (next == text::ParserStates::kDead) {
        if (!states.CanEnd(set)) std::abort();  // a dead end
        break;
      }
      set = next;
    }
  } catch (const Error& error) {
    if (error.what()[0] == '\0') std::abort();
  }
}

}  // namespace owml::fuzz
