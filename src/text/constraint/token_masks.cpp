// Walking the vocabulary from a place inside a rule.
// Called by ConstraintMatcher for places that were not met before.
#include "text/constraint/token_masks.h"

#include <algorithm>
#include <array>

#include "base/sha256.h"

namespace owml::text {
namespace {

constexpr size_t kMostBytes = 64u << 20;   // of masks, for one constraint
constexpr size_t kMostAnalysis = 4000000;  // items kept for further masks
constexpr size_t kFewMasks = 16;           // before states are put into classes
constexpr size_t kMostClasses = 50000;     // states that are worth it
constexpr size_t kMostFew = 512;           // tokens in a list
constexpr size_t kLongestSignature = 1u << 20;

}  // namespace

class TokenMasks::PlainDepth {
 public:
  explicit PlainDepth(ParserStates* states) : states_(states) {}

  // The largest of the slices' lengths for which every plain text is readable, or 0.
  uint32_t Of(ParserStates::Set set, const std::vector<ConstraintVocabulary::Slice>& slices) {
    steps_ = 0;
    for (const auto& slice : slices) {
      if (Readable(set, slice.characters)) return slice.characters;
    }
    return 0;
  }

 private:
  struct Known {
    uint32_t readable = 0;             // as many are
    uint32_t unreadable = UINT32_MAX;  // as many are not
  };
  static constexpr size_t kMostSteps = 100000;

  bool Readable(ParserStates::Set set, uint32_t characters) {
    if (characters == 0) return true;
    {
      const Known& known = known_[set];
      if (characters <= known.readable) return true;
      if (characters >= known.unreadable) return false;
    }
    bool all = true;
    for (ParserStates::Set next : Next(set)) {
      if (next == ParserStates::kDead || steps_ > kMostSteps || !Readable(next, characters - 1)) {
        all = false;
        break;
      }
    }
    if (steps_ > kMostSteps) return false;  // not known, only not worth the time
    Known& known = known_[set];
    if (all) {
      known.readable = std::max(known.readable, characters);
    } else {
      known.unreadable = std::min(known.unreadable, characters);
    }
    return all;
  }

  // The different sets behind one plain character.
  std::vector<ParserStates::Set> Next(ParserStates::Set set) {
    std::vector<ParserStates::Set> result;
    const auto add = [](std::vector<ParserStates::Set>* list, ParserStates::Set next) {
      if (list->empty() || list->back() != next) {
        if (std::find(list->begin(), list->end(), next) == list->end()) list->push_back(next);
      }
    };
    const auto step = [&](const std::vector<ParserStates::Set>& from, uint32_t first, uint32_t last) {
      std::vector<ParserStates::Set> to;
      for (ParserStates::Set one : from) {
        for (uint32_t byte = first; byte <= last; ++byte) {
          ++steps_;
          add(&to, one == ParserStates::kDead ? ParserStates::kDead : states_->Step(one, static_cast<uint8_t>(byte)));
        }
      }
      return to;
    };
    for (uint32_t byte = 0x20; byte < 0x80; ++byte) {
      if (byte == '"' || byte == '\\') continue;
      ++steps_;
      add(&result, states_->Step(set, static_cast<uint8_t>(byte)));
      if (result.back() == ParserStates::kDead) return result;
    }
    // First and further bytes of characters, as UTF-8 allows them.
    struct Lead {
      uint8_t first, last, next_first, next_last, more;
    };
    static constexpr std::array<Lead, 8> kLeads = {{{0xC2, 0xDF, 0x80, 0xBF, 0},
                                                    {0xE0, 0xE0, 0xA0, 0xBF, 1},
                                                    {0xE1, 0xEC, 0x80, 0xBF, 1},
                                                    {0xED, 0xED, 0x80, 0x9F, 1},
                                                    {0xEE, 0xEF, 0x80, 0xBF, 1},
                                                    {0xF0, 0xF0, 0x90, 0xBF, 2},
                                                    {0xF1, 0xF3, 0x80, 0xBF, 2},
                                                    {0xF4, 0xF4, 0x80, 0x8F, 2}}};
    for (const Lead& lead : kLeads) {
      auto sets = step(step({set}, lead.first, lead.last), lead.next_first, lead.next_last);
      for (int i = 0; i < lead.more; ++i) sets = step(sets, 0x80, 0xBF);
      for (ParserStates::Set next : sets) add(&result, next);
    }
    return result;
  }

  ParserStates* states_;
  std::unordered_map<ParserStates::Set, Known> known_;
  size_t steps_ = 0;
};

TokenMasks::TokenMasks(std::shared_ptr<const GrammarProgram> program,
                       std::shared_ptr<const ConstraintVocabulary> vocabulary)
    : program_(std::move(program)), vocabulary_(std::move(vocabulary)) {}

TokenMasks::~TokenMasks() = default;

std::shared_ptr<const LocalMask> TokenMasks::Of(uint32_t state) const {
  const std::lock_guard lock(mutex_);
  const auto found = masks_.find(state);
  if (found != masks_.end()) return found->second;

  // Rules without calls look the same in many grammars.
  const uint32_t rule = program_->states()[state].rule;
  const GrammarProgram::Rule& which = program_->rules()[rule];
  std::string key;
  if (which.leaf) {
    std::string& signature = signatures_[rule];
    if (signature.empty()) {
      const std::string text = program_->Signature(rule);
      if (text.size() <= kLongestSignature) signature = Sha256Hex(text);
    }
    if (!signature.empty()) key = signature + ":" + std::to_string(state - which.first_state);
  }
  std::shared_ptr<const LocalMask> mask = key.empty() ? nullptr : vocabulary_->local_masks().Find(key);
  if (!mask) {
    mask = Compute(state);
    if (!key.empty()) vocabulary_->local_masks().Keep(key, mask);
  }
  if (bytes_ > kMostBytes) {
    masks_.clear();
    parts_.clear();
    bytes_ = 0;
  }
  bytes_ += mask->bytes();
  masks_[state] = mask;
  return mask;
}

std::shared_ptr<const LocalMask> TokenMasks::Compute(uint32_t state) const {
  if (!analysis_ || analysis_->size() > kMostAnalysis) {
    analysis_ = std::make_unique<ParserStates>(program_);
    plain_depth_ = std::make_unique<PlainDepth>(analysis_.get());
  }
  if (++computed_ == kFewMasks && program_->states().size() <= kMostClasses) {
    classes_ = ClassesOfStates(*program_, ConstraintVocabulary::kShort);
  }
  auto mask = std::make_shared<LocalMask>();
  if (classes_.empty()) {
    mask->common = ComputeCommon(state);
  } else {
    auto& part = parts_[classes_[state]];
    if (!part) part = ComputeCommon(state);
    mask->common = part;
  }
  Sort(vocabulary_->long_trie(), analysis_->At(state), &mask->longer);
  return mask;
}

std::shared_ptr<const LocalPart> TokenMasks::ComputeCommon(uint32_t state) const {
  auto part = std::make_shared<LocalPart>();
  const ParserStates::Set start = analysis_->At(state);
  const VocabularyTrie* trie = &vocabulary_->trie();
  const uint32_t depth = plain_depth_->Of(start, vocabulary_->slices());
  for (const auto& slice : vocabulary_->slices()) {
    if (slice.characters != depth) continue;
    trie = &slice.others;
    part->plain = &slice.plain;
  }
  Sort(*trie, start, part.get());
  return part;
}

void TokenMasks::Sort(const VocabularyTrie& trie, ParserStates::Set start, LocalPart* part) const {
  std::vector<std::pair<uint32_t, uint32_t>> accepted;  // runs of tokens in the order of the trie
  std::vector<uint32_t> ends;                           // nodes at which the rule may be over
  size_t count = 0;
  Walk(trie, analysis_.get(), start, [&](uint32_t node, ParserStates::Set set) {
    if (trie.nodes()[node].ends) {
      const uint32_t first = trie.nodes()[node].first_token, last = trie.tokens_end(node + 1);
      count += last - first;
      if (!accepted.empty() && accepted.back().second == first) {
        accepted.back().second = last;
      } else {
        accepted.push_back({first, last});
      }
    }
    if (analysis_->CanEnd(set)) ends.push_back(node);
  });
  TokenSet inside(vocabulary_->limit());
  for (const auto& [first, last] : accepted) {
    for (uint32_t i = first; i < last; ++i) {
      inside.Add(trie.tokens()[i]);
      if (count <= kMostFew) part->few.push_back(trie.tokens()[i]);
    }
  }
  std::vector<VocabularyTrie::Entry> beyond;
  for (uint32_t node : ends) {
    const VocabularyTrie::Node& at = trie.nodes()[node];
    const uint32_t first = at.ends ? trie.tokens_end(node + 1) : at.first_token;
    for (uint32_t i = first; i < trie.tokens_end(at.behind); ++i) {
      const uint32_t token = trie.tokens()[i];
      if (!inside.Has(token)) beyond.push_back({vocabulary_->TextBytes(token).substr(at.depth), token});
    }
  }
  part->beyond = VocabularyTrie(std::move(beyond));
  if (count > kMostFew) part->many = std::make_shared<TokenSet>(std::move(inside));
}

}  // namespace owml::text
