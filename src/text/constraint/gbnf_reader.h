// Grammars in llama.cpp's GBNF notation, which is also what most EBNF for constrained decoding looks like:
//   root ::= "a" [b-z]+ ( item | "x"{2,3} )? # remark
// One addition: `%json_schema "{\"type\": \"object\"}"` matches a value that the schema allows.
// Called for the syntax "gbnf".
#pragma once

#include <string_view>

#include "text/constraint/grammar.h"

namespace owml::text {

// Throws E_INVALIDARG with the line: no rule `root`, a rule that is not defined or defined twice, too deep or too long.
Grammar ReadGbnf(std::string_view text);

}  // namespace owml::text
