// One reply on its way through a constraint: which tokens may come next, and where the text stands.
// Used by the constraint objects of the API. Copies go their own way; a matcher is not for two threads at once.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/constraint/compiled_constraint.h"
#include "text/constraint/parser_states.h"
#include "text/constraint/pattern_search.h"

namespace owml::text {

class ConstraintMatcher {
 public:
  enum class Status : uint8_t { kActive, kCompleted, kPoisoned };

  explicit ConstraintMatcher(std::shared_ptr<const CompiledConstraint> constraint);
  ConstraintMatcher(const ConstraintMatcher& other);
  ConstraintMatcher& operator=(const ConstraintMatcher&) = delete;

  const CompiledConstraint& constraint() const { return *constraint_; }
  Status status() const { return status_; }
  bool awaiting_trigger() const { return status_ == Status::kActive && awaiting_; }
  // The reply may end here.
  bool CanStop() const;
  uint64_t accepted() const { return accepted_; }
  uint32_t peak_items() const { return peak_items_; }
  uint32_t peak_depth() const { return peak_depth_; }

  // The tokens that may come next; valid until the next call. None when the reply is over.
  const TokenSet& Allowed();
  bool IsAllowed(uint32_t id) { return Allowed().Has(id); }

  // Throws E_INVALIDARG for a token that is not allowed, which poisons the matcher; E_NOT_VALID_STATE when the reply is
  // over.
  void Accept(uint32_t id);

  bool IsStop(uint32_t id) const { return constraint_->vocabulary->IsEos(id); }
  bool IsPreserved(uint32_t id) const;

  void Reset();

 private:
  static constexpr size_t kRememberedMasks = 24;
  static constexpr size_t kRememberedLocals = 1000;
  static constexpr size_t kMostKept = 2000000;       // items of the machine before it is cleared
  static constexpr size_t kLongestWait = 64u << 20;  // bytes of text before a trigger

  void Wait(uint32_t id);
  bool Read(std::string_view text);
  void Fill(TokenSet* mask);
  void AddPart(const LocalPart& part, ParserStates::Link link, TokenSet* mask);
  const LocalMask& Local(uint32_t state);
  void Arrive(ParserStates::Set set);

  std::shared_ptr<const CompiledConstraint> constraint_;
  std::unique_ptr<ParserStates> states_;
  ParserStates::Set at_ = 0;
  Status status_ = Status::kActive;
  uint64_t accepted_ = 0;
  uint32_t peak_items_ = 0;
  uint32_t peak_depth_ = 0;

  bool awaiting_ = false;
  std::string waiting_text_;
  size_t searched_ = 0;                  // bytes of it that the triggers have seen
  std::vector<PatternSearch> searches_;  // one for each trigger that is no token
  TokenSet nothing_;

  std::unordered_map<uint32_t, std::shared_ptr<const LocalMask>> locals_;
  std::list<std::pair<ParserStates::Set, TokenSet>> masks_;  // the latest first
};

}  // namespace owml::text
