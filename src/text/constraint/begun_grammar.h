// Grammars in GBNF that describe a reply together with what the prompt holds of it already, such as the opening of the
// assistant's turn: a first line `%begun_with "<|im_start|>assistant\n"` before the rules.
// Written by the formatter, read by the compiler of constraints.
#pragma once

#include <string>
#include <string_view>

namespace owml::text {

std::string BegunGrammar(std::string_view begun_with, std::string_view rules);

struct BegunGrammarParts {
  std::string begun_with;  // empty for a grammar without such a line
  std::string_view rules;
};

// Throws E_INVALIDARG for a line that is not complete.
BegunGrammarParts SplitBegunGrammar(std::string_view grammar);

}  // namespace owml::text
