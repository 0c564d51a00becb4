// Each round looks one edge further. A call counts as one edge: what it calls takes at least a byte, since a rule that
// takes none is passed by.
// Called by TokenMasks.
#include "text/constraint/state_classes.h"

namespace owml::text {
namespace {

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
  hash *= 0xBF58476D1CE4E5B9u;
  return hash ^ (hash >> 31);
}

}  // namespace

std::vector<StateClass> ClassesOfStates(const GrammarProgram& program, uint32_t depth) {
  const auto count = static_cast<uint32_t>(program.states().size());
  std::vector<StateClass> now(count, StateClass{}), next(count);
  for (uint32_t round = 0; round <= depth; ++round) {
    for (uint32_t state = 0; state < count; ++state) {
      for (uint64_t half = 0; half < 2; ++half) {
        uint64_t hash = Mix(half * 0x94D049BB133111EBu + 1, program.states()[state].accepts ? 7 : 3);
        for (const auto& edge : program.byte_edges(state)) {
          hash = Mix(Mix(hash, (uint64_t{edge.first} << 8) | edge.last), now[edge.to][half]);
        }
        for (const auto& call : program.calls(state)) {
          hash = Mix(Mix(hash, (uint64_t{1} << 40) | call.rule), now[call.to][half]);
        }
        next[state][half] = hash;
      }
    }
    now.swap(next);
  }
  return now;
}

}  // namespace owml::text
