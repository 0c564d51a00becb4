// Which tokens a grammar allows. For each place in a rule the vocabulary is walked once; what surrounds the rule only
// decides about the few tokens that go beyond its end.
// Shared by the matchers of a constraint; usable from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/constraint/constraint_vocabulary.h"
#include "text/constraint/local_mask.h"
#include "text/constraint/parser_states.h"
#include "text/constraint/state_classes.h"

namespace owml::text {

class TokenMasks {
 public:
  TokenMasks(std::shared_ptr<const GrammarProgram> program, std::shared_ptr<const ConstraintVocabulary> vocabulary);
  ~TokenMasks();

  std::shared_ptr<const LocalMask> Of(uint32_t state) const;

  // Calls `visit(node, set)` for every node of `trie` that can be read from `from`.
  template <class Visit>
  static void Walk(const VocabularyTrie& trie, ParserStates* states, ParserStates::Set from, Visit&& visit) {
    const auto& nodes = trie.nodes();
    std::vector<ParserStates::Set> sets(trie.deepest() + 1);
    sets[0] = from;
    const auto count = static_cast<uint32_t>(nodes.size());
    for (uint32_t i = 0; i < count;) {
      const VocabularyTrie::Node& node = nodes[i];
      const ParserStates::Set next = states->Step(sets[node.depth - 1u], node.byte);
      if (next == ParserStates::kDead) {
        i = node.behind;
      } else {
        sets[node.depth] = next;
        visit(i, next);
        ++i;
      }
    }
  }

 private:
  // How many plain characters, whatever they are, can be read from a set of the analysis.
  class PlainDepth;

  std::shared_ptr<const LocalMask> Compute(uint32_t state) const;
  std::shared_ptr<const LocalPart> ComputeCommon(uint32_t state) const;
  // Sorts the tokens of `trie` into `part` by what they do from `start`.
  void Sort(const VocabularyTrie& trie, ParserStates::Set start, LocalPart* part) const;

  std::shared_ptr<const GrammarProgram> program_;
  std::shared_ptr<const ConstraintVocabulary> vocabulary_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<ParserStates> analysis_;
  mutable std::unique_ptr<PlainDepth> plain_depth_;
  mutable std::unordered_map<uint32_t, std::shared_ptr<const LocalMask>> masks_;
  mutable size_t bytes_ = 0;
  mutable size_t computed_ = 0;
  mutable std::vector<StateClass> classes_;  // empty while there are few masks
  mutable std::map<StateClass, std::shared_ptr<const LocalPart>> parts_;
  mutable std::unordered_map<uint32_t, std::string> signatures_;  // of leaf rules, hashed
};

}  // namespace owml::text
