// Which states of an automaton lead to an end; the others are dead weight.
// Called where automata over bytes and automata of rules are trimmed.
#pragma once

#include <cstdint>
#include <vector>

namespace owml::text {

// `sources[s]` are the states with an edge into s, `accepts(s)` tells whether a text may end there. 1 for useful ones.
template <class Accepts>
std::vector<char> UsefulStates(const std::vector<std::vector<uint32_t>>& sources, Accepts&& accepts) {
  std::vector<char> useful(sources.size(), 0);
  std::vector<uint32_t> open;
  for (uint32_t state = 0; state < sources.size(); ++state) {
    if (accepts(state)) {
      useful[state] = 1;
      open.push_back(state);
    }
  }
  while (!open.empty()) {
    const uint32_t state = open.back();
    open.pop_back();
    for (const uint32_t from : sources[state]) {
      if (!useful[from]) {
        useful[from] = 1;
        open.push_back(from);
      }
    }
  }
  return useful;
}

}  // namespace owml::text
