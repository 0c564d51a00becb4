// One filter and one accept for each token.
// See constrained_choice.h.
#include "tasks/text_generation/constrained_choice.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "com/guard.h"

namespace owml {
namespace {

constexpr const char* kConstraint = "the constraint";

bool Same(const WINML_CONSTRAINT_VOCABULARY_IDENTITY& a, const WINML_CONSTRAINT_VOCABULARY_IDENTITY& b) {
  return a.tokenCount == b.tokenCount && std::memcmp(a.sha256, b.sha256, sizeof a.sha256) == 0;
}

WINML_TOKEN_CONSTRAINT_STATE StateOf(IWinMLTokenConstraint* constraint) {
  WINML_TOKEN_CONSTRAINT_STATE state = {};
  ClearThreadError();
  CheckResult(constraint->GetState(&state), kConstraint, "IWinMLTokenConstraint::GetState");
  return state;
}

}  // namespace

bool ConstrainedChoice::Supported(IWinMLTokenizer* tokenizer) {
  return Query<IWinMLTokenizerConstraintFactory>(tokenizer) != nullptr;
}

ConstrainedChoice::ConstrainedChoice(IWinMLTokenConstraint* constraint, IWinMLTokenizer* tokenizer)
    : constraint_(constraint), selector_(Query<IWinMLTokenConstraintGreedySelector>(constraint)) {
  const auto factory = Query<IWinMLTokenizerConstraintFactory>(tokenizer);
  Require(factory != nullptr, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
          "the session's tokenizer names no vocabulary that a constraint could be for "
          "(IWinMLTokenizerConstraintFactory)");
  WINML_CONSTRAINT_VOCABULARY_IDENTITY ours = {};
  WINML_CONSTRAINT_VOCABULARY_IDENTITY its = {};
  ClearThreadError();
  CheckResult(factory->GetVocabularyIdentity(&ours), "the tokenizer", "GetVocabularyIdentity");
  ClearThreadError();
  CheckResult(constraint->GetVocabularyIdentity(&its), kConstraint, "GetVocabularyIdentity");
  Require(Same(ours, its), E_INVALIDARG,
          "the constraint is for another vocabulary, of " + std::to_string(its.tokenCount) +
              " tokens; that of the session has " + std::to_string(ours.tokenCount));
  const auto status = StateOf(constraint).status;
  Require(status == WINML_TOKEN_CONSTRAINT_STATUS_ACTIVE, E_NOT_VALID_STATE,
          std::string("the constraint is ") +
              (status == WINML_TOKEN_CONSTRAINT_STATUS_COMPLETED ? "completed" : "poisoned") +
              "; Reset begins another generation");
  tokens_ = ours.tokenCount;
}

// Rows of logits may be wider than the vocabulary; the rest are no tokens.
void ConstrainedChoice::Collect(std::span<const float> logits) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const size_t count = std::min<size_t>(logits.size(), tokens_);
  buffer_.resize(count);
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!(logits[i] <= kMost)) {
      throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                  "the logit of token " + std::to_string(i) + " of " + std::to_string(logits.size()) + " is " +
                      (std::isnan(logits[i]) ? "not a number" : "plus infinity"));
    }
    buffer_[kept] = {static_cast<UINT32>(i), logits[i]};
    kept += logits[i] != -std::numeric_limits<float>::infinity();
  }
  buffer_.resize(kept);
  Require(kept != 0, HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
          "all " + std::to_string(count) + " logits are minus infinity");
}

std::span<const TokenCandidate> ConstrainedChoice::Filter(std::span<const float> logits, bool greedy) {
  Collect(logits);
  allowed_.clear();
  const UINT32 count = static_cast<UINT32>(buffer_.size());
  if (greedy && selector_) {
    UINT32 token = 0;
    ClearThreadError();
    CheckResult(selector_->SelectHighestAllowedCandidate(count, buffer_.data(), &token), kConstraint,
                "SelectHighestAllowedCandidate");
    Require(token < logits.size() && token < tokens_, E_UNEXPECTED,
            "the constraint selected the token " + std::to_string(token) + ", which is no candidate");
    allowed_.push_back({logits[token], token});
    return allowed_;
  }
  WINML_TOKEN_CONSTRAINT_CANDIDATE_BUFFER candidates = {count, count, buffer_.data()};
  ClearThreadError();
  CheckResult(constraint_->FilterCandidates(&candidates), kConstraint, "FilterCandidates");
  Require(candidates.candidateCount > 0 && candidates.candidateCount <= count, E_UNEXPECTED,
          "the constraint kept " + std::to_string(candidates.candidateCount) + " of " + std::to_string(count) +
              " candidates");
  allowed_.reserve(candidates.candidateCount);
  for (UINT32 i = 0; i < candidates.candidateCount; ++i) {
    const UINT32 token = buffer_[i].tokenId;
    Require(token < logits.size() && token < tokens_ && (i == 0 || allowed_.back().token < token), E_UNEXPECTED,
            "the constraint kept the token " + std::to_string(token) + " in a place where no candidate of it was");
    allowed_.push_back({logits[token], token});
  }
  return allowed_;
}

ConstrainedChoice::Verdict ConstrainedChoice::Accept(uint32_t token) {
  BOOL stop = FALSE;
  BOOL preserved = FALSE;
  ClearThreadError();
  CheckResult(constraint_->IsStopToken(token, &stop), kConstraint, "IsStopToken");
  ClearThreadError();
  if (stop) CheckResult(constraint_->IsPreservedToken(token, &preserved), kConstraint, "IsPreservedToken");
  ClearThreadError();
  CheckResult(constraint_->AcceptToken(token), kConstraint, "AcceptToken");
  const auto status = StateOf(constraint_.Get()).status;
  Require(status != WINML_TOKEN_CONSTRAINT_STATUS_POISONED, E_UNEXPECTED,
          "the constraint allowed the token " + std::to_string(token) + " and was poisoned by it");
  return {stop || status == WINML_TOKEN_CONSTRAINT_STATUS_COMPLETED, !stop || preserved};
}

}  // namespace owml
