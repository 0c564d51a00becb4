// Where a text can stand in a grammar, as numbered states of a pushdown machine that is explored on the way: an Earley
// parser whose item sets are kept once each, so that a set met again costs one table look-up a byte.
// Used for the parse of a reply, and for what tokens do inside one rule whatever surrounds it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "text/constraint/grammar_program.h"

namespace owml::text {

class ParserStates {
 public:
  using Set = uint32_t;   // all places where the text may stand
  using Link = uint32_t;  // where a rule goes on when the rule it called has ended
  struct Item {
    uint32_t state;
    Link link;
    bool operator==(const Item&) const = default;
    auto operator<=>(const Item&) const = default;
  };

  static constexpr Set kDead = UINT32_MAX;
  static constexpr Link kOutside = 0;  // behind the first rule
  static constexpr size_t kMostItems = 20000;

  explicit ParserStates(std::shared_ptr<const GrammarProgram> program);

  const GrammarProgram& program() const { return *program_; }

  // The start of the grammar.
  Set Start();
  // In the middle of a rule, with kOutside around it.
  Set At(uint32_t state);
  // Behind a rule that was called at `link`.
  Set Behind(Link link);

  // Throws E_INVALIDARG when the text can be read in more ways than are kept.
  Set Step(Set set, uint8_t byte) {
    const uint32_t next = sets_[set].next ? (*sets_[set].next)[byte] : kUnknown;
    return next != kUnknown ? next : Explore(set, byte);
  }

  // The text may end here; in an analysis, the rule may.
  bool CanEnd(Set set) const { return sets_[set].can_end; }
  // Nothing can follow.
  bool OnlyEnds(Set set) const { return sets_[set].readers.empty(); }
  // Rules that are under way, without those that only begin here.
  std::span<const Item> active(Set set) const { return sets_[set].active; }

  size_t items(Set set) const { return sets_[set].readers.size(); }
  uint32_t depth(Set set) const { return sets_[set].depth; }
  // Items that are kept, a measure of memory.
  size_t size() const { return size_; }

  // The set of `other`, a machine for the same program.
  Set Import(const ParserStates& other, Set set);

 private:
  static constexpr size_t kMostKept = 20000000;
  static constexpr uint32_t kUnknown = UINT32_MAX - 1;
  using Items = std::vector<Item>;
  using Table = std::array<uint32_t, 256>;

  struct ItemsHash {
    size_t operator()(const Items& items) const noexcept;
  };
  struct SetData {
    Items kernel;
    Items active;
    Items readers;  // items that read bytes
    bool can_end = false;
    uint32_t depth = 0;
    std::unique_ptr<Table> next;
  };
  struct LinkData {
    Items items;
    uint32_t depth = 0;
    Set behind = kUnknown;
  };

  Set Intern(Items kernel);
  Link InternLink(Items items);
  void Close(SetData* set);
  Set Explore(Set set, uint8_t byte);

  std::shared_ptr<const GrammarProgram> program_;
  std::vector<SetData> sets_;
  std::vector<LinkData> links_;
  std::unordered_map<Items, Set, ItemsHash> known_sets_;
  std::unordered_map<Items, Link, ItemsHash> known_links_;
  size_t size_ = 0;
};

}  // namespace owml::text
