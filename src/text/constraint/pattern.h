// Regular expressions as JSON Schema writes them: ECMAScript in Unicode mode, without what no automaton can do
// (look-around, back references, word boundaries), which is refused by name.
// Used for `pattern` and its kin, for "regex" constraints and for the triggers of lazy ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/constraint/automaton.h"

namespace owml::text {

struct PatternNode {
  enum class Kind : uint8_t {
    kSequence,   // `children` in turn; none: the empty text
    kChoice,     // one of `children`, the first preferred
    kRepeat,     // children[0], `minimum` to `maximum` times
    kSet,        // one character of `set`
    kCapture,    // children[0]
    kTextStart,  // ^
    kTextEnd,    // $
  };
  static constexpr uint32_t kUnbounded = UINT32_MAX;

  Kind kind = Kind::kSequence;
  CodePointSet set;
  std::vector<uint32_t> children;  // places in the list of nodes
  uint32_t minimum = 0;
  uint32_t maximum = kUnbounded;
  bool lazy = false;
  uint32_t capture = 0;  // from 1
};

class Pattern {
 public:
  static constexpr size_t kLongest = 100000;  // bytes
  static constexpr int kMostNested = 200;
  static constexpr uint32_t kMostRepeats = 100000;

  // Throws E_INVALIDARG: "<where>: the pattern "..." ..., at character 3".
  static Pattern Parse(std::string_view text, const std::string& where);
  // For a search in a text that grows: a pattern may also end in one look-ahead, which is part of what must be read
  // before there is a match.
  static Pattern ParseTrigger(std::string_view text, const std::string& where);
  // Matches `text` itself.
  static Pattern Literal(std::string_view text);

  const std::vector<PatternNode>& nodes() const { return nodes_; }
  uint32_t root() const { return root_; }

  // The texts that have a match somewhere.
  Automaton Search() const { return ToAutomaton(true); }
  // The texts that match from end to end.
  Automaton Whole() const { return ToAutomaton(false); }

 private:
  friend class PatternParser;
  Automaton ToAutomaton(bool search) const;

  std::vector<PatternNode> nodes_;
  uint32_t root_ = 0;
};

}  // namespace owml::text
