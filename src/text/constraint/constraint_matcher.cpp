// Following a reply token by token.
// Called by the constraint objects.
#include "text/constraint/constraint_matcher.h"

#include <algorithm>

#include "base/error.h"
#include "text/unicode/utf8.h"

namespace owml::text {

ConstraintMatcher::ConstraintMatcher(std::shared_ptr<const CompiledConstraint> constraint)
    : constraint_(std::move(constraint)), nothing_(constraint_->vocabulary->limit()) {
  for (const auto& trigger : constraint_->triggers) {
    if (!trigger.pattern) continue;
    searches_.emplace_back(*trigger.pattern, trigger.kind == ConstraintTrigger::Kind::kFullPattern
                                                 ? PatternSearch::Mode::kWhole
                                                 : PatternSearch::Mode::kAnywhere);
  }
  Reset();
}

ConstraintMatcher::ConstraintMatcher(const ConstraintMatcher& other)
    : constraint_(other.constraint_),
      states_(std::make_unique<ParserStates>(other.constraint_->program)),
      at_(states_->Import(*other.states_, other.at_)),
      status_(other.status_),
      accepted_(other.accepted_),
      peak_items_(other.peak_items_),
      peak_depth_(other.peak_depth_),
      awaiting_(other.awaiting_),
      waiting_text_(other.waiting_text_),
      searched_(other.searched_),
      searches_(other.searches_),
      nothing_(other.nothing_),
      locals_(other.locals_) {}

void ConstraintMatcher::Reset() {
  states_ = std::make_unique<ParserStates>(constraint_->program);
  masks_.clear();
  status_ = Status::kActive;
  accepted_ = 0;
  peak_items_ = peak_depth_ = 0;
  awaiting_ = constraint_->lazy;
  waiting_text_.clear();
  searched_ = 0;
  for (auto& search : searches_) search.Reset();
  ParserStates::Set set = states_->Start();
  for (char c : constraint_->begun_with) {
    if (set != ParserStates::kDead) set = states_->Step(set, static_cast<uint8_t>(c));
  }
  if (set == ParserStates::kDead) {
    throw Error(E_INVALIDARG, "grammar: no reply begins with \"" + constraint_->begun_with + "\"");
  }
  Arrive(set);
}

bool ConstraintMatcher::CanStop() const { return status_ == Status::kActive && (awaiting_ || states_->CanEnd(at_)); }

bool ConstraintMatcher::IsPreserved(uint32_t id) const {
  for (const auto& [preserved, text] : constraint_->preserved) {
    if (preserved == id) return true;
  }
  return false;
}

void ConstraintMatcher::Arrive(ParserStates::Set set) {
  at_ = set;
  peak_items_ = std::max(peak_items_, static_cast<uint32_t>(states_->items(set)));
  peak_depth_ = std::max(peak_depth_, states_->depth(set));
}

const LocalMask& ConstraintMatcher::Local(uint32_t state) {
  auto& local = locals_[state];
  if (!local) local = constraint_->masks->Of(state);
  return *local;
}

const TokenSet& ConstraintMatcher::Allowed() {
  if (status_ != Status::kActive) return nothing_;
  // Spec-open: while it waits for a trigger a lazy constraint forbids nothing.
  if (awaiting_) return constraint_->vocabulary->all();
  for (auto entry = masks_.begin(); entry != masks_.end(); ++entry) {
    if (entry->first != at_) continue;
    masks_.splice(masks_.begin(), masks_, entry);
    return masks_.front().second;
  }
  TokenSet mask;
  if (masks_.size() >= kRememberedMasks) {
    mask = std::move(masks_.back().second);  // its memory
    masks_.pop_back();
    mask.Clear();
  } else {
    mask = nothing_;
  }
  Fill(&mask);
  masks_.emplace_front(at_, std::move(mask));
  return masks_.front().second;
}

void ConstraintMatcher::AddPart(const LocalPart& part, ParserStates::Link link, TokenSet* mask) {
  if (part.plain) mask->Add(*part.plain);
  if (part.many) mask->Add(*part.many);
  for (uint32_t token : part.few) mask->Add(token);
  if (link == ParserStates::kOutside || part.beyond.empty()) return;
  const VocabularyTrie& beyond = part.beyond;
  TokenMasks::Walk(beyond, states_.get(), states_->Behind(link), [&](uint32_t node, ParserStates::Set) {
    if (!beyond.nodes()[node].ends) return;
    for (uint32_t i = beyond.nodes()[node].first_token; i < beyond.tokens_end(node + 1); ++i) {
      mask->Add(beyond.tokens()[i]);
    }
  });
}

void ConstraintMatcher::Fill(TokenSet* mask) {
  if (locals_.size() > kRememberedLocals) locals_.clear();
  // Stepping may add sets, so the list is copied.
  const auto span = states_->active(at_);
  const std::vector<ParserStates::Item> active(span.begin(), span.end());
  for (const ParserStates::Item& item : active) {
    const LocalMask& local = Local(item.state);
    AddPart(*local.common, item.link, mask);
    AddPart(local.longer, item.link, mask);
  }
  for (const auto& [id, text] : constraint_->preserved) {
    ParserStates::Set set = at_;
    for (size_t i = 0; i < text.size() && set != ParserStates::kDead; ++i) {
      set = states_->Step(set, static_cast<uint8_t>(text[i]));
    }
    if (set != ParserStates::kDead && !text.empty()) mask->Add(id);
  }
  if (states_->CanEnd(at_)) mask->Add(constraint_->vocabulary->eos());
}

void ConstraintMatcher::Accept(uint32_t id) {
  if (status_ != Status::kActive) {
    throw Error(E_NOT_VALID_STATE, status_ == Status::kCompleted
                                       ? "the constrained reply is complete"
                                       : "the constraint has seen a token that it forbids; reset it");
  }
  const ConstraintVocabulary& vocabulary = *constraint_->vocabulary;
  // Whatever goes wrong from here on, what was generated is not what was asked for.
  status_ = Status::kPoisoned;
  if (!vocabulary.all().Has(id)) {
    throw Error(E_INVALIDARG, "the vocabulary has no token " + std::to_string(id));
  }
  if (vocabulary.IsEos(id)) {
    if (!awaiting_ && !states_->CanEnd(at_)) {
      throw Error(E_INVALIDARG,
                  "the end token " + std::to_string(id) + " came before the constrained text was complete");
    }
    ++accepted_;
    status_ = Status::kCompleted;
    return;
  }
  if (awaiting_) {
    Wait(id);
  } else {
    std::string_view text = vocabulary.TextBytes(id);
    for (const auto& [preserved, own_text] : constraint_->preserved) {
      if (preserved == id) text = own_text;
    }
    if (text.empty() || !Read(text)) {
      throw Error(E_INVALIDARG, "the constraint does not allow the token " + std::to_string(id) + " here");
    }
  }
  ++accepted_;
  status_ = Status::kActive;
}

bool ConstraintMatcher::Read(std::string_view text) {
  ParserStates::Set set = at_;
  for (char c : text) {
    set = states_->Step(set, static_cast<uint8_t>(c));
    if (set == ParserStates::kDead) return false;
  }
  if (states_->size() > kMostKept) {
    auto fresh = std::make_unique<ParserStates>(constraint_->program);
    set = fresh->Import(*states_, set);
    states_ = std::move(fresh);
    masks_.clear();
  }
  Arrive(set);
  return true;
}

void ConstraintMatcher::Wait(uint32_t id) {
  const std::string text = constraint_->vocabulary->tokenizer().Bytes(id);
  // A token that wakes it belongs to the constrained text.
  std::optional<std::string_view> constrained;
  for (const auto& trigger : constraint_->triggers) {
    if (trigger.kind == ConstraintTrigger::Kind::kToken && trigger.token_id == id) constrained = text;
  }
  if (!constrained && !searches_.empty()) {
    if (waiting_text_.size() + text.size() > kLongestWait) {
      throw Error(E_INVALIDARG, "no trigger came in " + std::to_string(kLongestWait) + " bytes of text");
    }
    waiting_text_ += text;
    // A character that is not yet whole waits for its end.
    size_t whole = waiting_text_.size();
    for (size_t back = 1; back <= 3 && back <= waiting_text_.size() - searched_; ++back) {
      const size_t begin = waiting_text_.size() - back;
      if (CharacterLength(std::string_view(waiting_text_).substr(begin)) == 0) whole = begin;
    }
    const std::string_view fresh = std::string_view(waiting_text_).substr(searched_, whole - searched_);
    searched_ = whole;
    for (auto& search : searches_) {
      search.Append(fresh);
      const auto found = search.Found();
      if (found && !constrained) constrained = std::string_view(waiting_text_).substr(*found);
    }
  }
  if (!constrained) return;
  awaiting_ = false;
  if (!Read(*constrained)) {
    throw Error(E_INVALIDARG, "the text that woke the constraint does not fit its grammar");
  }
  waiting_text_.clear();
  waiting_text_.shrink_to_fit();
}

}  // namespace owml::text
