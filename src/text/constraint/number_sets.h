// Sets of numbers as automata over the ways to write them: no exponent, any zeros at the end of a fraction.
// Used by the schema compiler.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "text/constraint/automaton.h"
#include "text/constraint/json_tree.h"

namespace owml::text {

enum class NumberRelation : uint8_t { kLess, kAtMost, kEqual, kAtLeast, kMore };

// Everything that JSON calls a number, with exponents.
std::shared_ptr<const Automaton> JsonNumbers();
// Without exponents: what the sets below are taken from.
const Automaton& PlainNumbers();
// Integral values, such as 3 and 3.0.
const Automaton& Integers();

Automaton NumbersThat(NumberRelation relation, const Decimal& bound);
// `divisor` is positive. Throws ERROR_NOT_SUPPORTED when it has too many digits for an automaton.
Automaton MultiplesOf(const Decimal& divisor, const std::string& where);

}  // namespace owml::text
