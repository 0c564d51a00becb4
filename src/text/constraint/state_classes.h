// Which states of a program look alike to a text of limited length.
// Used by TokenMasks: counting states of one repetition mostly differ in what is far ahead.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "text/constraint/grammar_program.h"

namespace owml::text {

// Equal for states that cannot be told apart by `depth` bytes, whatever surrounds their rule. Two hashes, so that
// different ones are not taken for equal.
using StateClass = std::array<uint64_t, 2>;

std::vector<StateClass> ClassesOfStates(const GrammarProgram& program, uint32_t depth);

}  // namespace owml::text
