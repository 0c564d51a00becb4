// States of a session, and the book-keeping of consumed tokens.
// See sequence.h.
#include "tasks/text_generation/sequence.h"

#include <algorithm>
#include <utility>

#include "com/guard.h"
#include "tasks/text_generation/generation.h"

namespace owml {

Sequence::Sequence(const Composition& composition, std::vector<uint32_t> eos_tokens)
    : tokenizer_(composition.tokenizer), eos_tokens_(std::move(eos_tokens)) {
  claims_.emplace_back(composition.prompt_phase().pipeline.Get());
  if (!composition.unified()) claims_.emplace_back(composition.decode_phase().pipeline.Get());
  pipelines_ = std::make_unique<GenerationPipelines>(composition);
  if (composition.speculative.method != WINML_TEXT_GENERATION_SPECULATIVE_METHOD_NONE) {
    drafting_ = std::make_unique<Drafting>(composition);
  }
  pipelines_->BindCallerOutputs();
}

bool Sequence::active() const {
  const auto running = running_.lock();
  return running && !running->completed();
}

void Sequence::RequireOpen() const { Require(pipelines_ != nullptr, E_NOT_VALID_STATE, "the session is closed"); }

void Sequence::RequireReady() const {
  RequireOpen();
  Require(!active(), E_NOT_VALID_STATE, "a stream of the session is open; read it to its end or close it first");
  Require(!failed_, E_NOT_VALID_STATE, "the last generation failed; reset the session first");
}

GenerationPipelines& Sequence::pipelines() const {
  RequireOpen();
  return *pipelines_;
}

WINML_TEXT_GENERATION_SESSION_STATE Sequence::State() const {
  if (!pipelines_) return WINML_TEXT_GENERATION_SESSION_STATE_CLOSED;
  if (active()) return WINML_TEXT_GENERATION_SESSION_STATE_ACTIVE;
  if (failed_) return WINML_TEXT_GENERATION_SESSION_STATE_RESET_REQUIRED;
  return retained_.empty() ? WINML_TEXT_GENERATION_SESSION_STATE_EMPTY : WINML_TEXT_GENERATION_SESSION_STATE_READY;
}

void Sequence::Synchronize() {
  RequireOpen();
  if (!pipelines_->unified() || retained_.empty() || failed_) return;
  const uint64_t position = pipelines_->Position();
  if (position > retained_.size()) retained_.clear();  // somebody added tokens that are not known here
  if (position < retained_.size()) retained_.resize(static_cast<size_t>(position));
}

// Spec-open: between two pipelines the application holds the state, so a kept sequence cannot be continued here.
WINML_TEXT_GENERATION_SEQUENCE_STATE Sequence::Disclosure() {
  Synchronize();
  WINML_TEXT_GENERATION_SEQUENCE_STATE state = {};
  state.sessionState = State();
  state.evaluatedTokenCount = evaluated_;
  state.retainedTokenCount = static_cast<UINT32>(retained_.size());
  if (failed_ || (!retained_.empty() && !pipelines_->unified())) {
    state.disclosure = WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_UNUSABLE;
  } else {
    state.disclosure = retained_.empty() ? WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_NONE
                                         : WINML_TEXT_GENERATION_SEQUENCE_DISCLOSURE_RETAINED;
  }
  return state;
}

WINML_TEXT_GENERATION_CAPABILITIES Sequence::Capabilities() {
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  capabilities.sequenceState = Disclosure();
  capabilities.executionProfile = pipelines_->profile();
  capabilities.outputKind = pipelines_->output_kind();
  const bool constraints = pipelines_->gives_logits() && ConstrainedChoice::Supported(tokenizer_.Get());
  capabilities.supportsContinuation = pipelines_->unified() ? TRUE : FALSE;
  capabilities.supportsConstraints = constraints ? TRUE : FALSE;
  capabilities.supportsSegmentedPrompts = pipelines_->unified() ? TRUE : FALSE;
  capabilities.supportsConstrainedContinuation = constraints && pipelines_->unified() ? TRUE : FALSE;
  return capabilities;
}

const std::vector<uint32_t>& Sequence::Retained() {
  Synchronize();
  return retained_;
}

void Sequence::Forget() {
  RequireOpen();
  failed_ = true;
  pipelines_->Forget();
  failed_ = false;
  retained_.clear();
  evaluated_ = 0;
}

void Sequence::RunPrompt(std::span<const uint32_t> tokens) {
  RequireOpen();
  retained_.reserve(retained_.size() + tokens.size());
  pipelines_->RunPrompt(tokens);
  retained_.insert(retained_.end(), tokens.begin(), tokens.end());
  evaluated_ += tokens.size();
}

void Sequence::RunToken(uint32_t token) {
  RequireOpen();
  retained_.push_back(token);
  try {
    pipelines_->RunToken(token);
  } catch (...) {
    retained_.pop_back();
    throw;
  }
  ++evaluated_;
}

LogitRowsView Sequence::StepAll(std::span<const uint32_t> tokens) {
  RequireOpen();
  retained_.reserve(retained_.size() + tokens.size());
  evaluated_ += tokens.size();
  return pipelines_->StepAllPositions(tokens);
}

void Sequence::Commit(std::span<const uint32_t> tokens) {
  pipelines_->CommitAcceptedPrefix(static_cast<uint32_t>(tokens.size()));
  retained_.insert(retained_.end(), tokens.begin(), tokens.end());
}

void Sequence::TakeBack(size_t count) noexcept {
  if (count == 0 || !pipelines_ || failed_ || count > retained_.size()) return;
  try {
    pipelines_->RewindTo(retained_.size() - count);
    retained_.resize(retained_.size() - count);
  } catch (...) {
    return;  // the disclosure tells what the model holds
  }
}

void Sequence::Fail() noexcept {
  failed_ = true;
  if (pipelines_) pipelines_->ReleaseLogits();
}

void Sequence::Reset() {
  RequireOpen();
  Require(!active(), E_NOT_VALID_STATE, "a stream of the session is open; close it first");
  Forget();
}

void Sequence::Close() {
  if (!pipelines_) return;
  Require(!active(), E_NOT_VALID_STATE, "a stream of the session is open; read it to its end or close it first");
  drafting_.reset();
  pipelines_.reset();
  claims_.clear();
}

}  // namespace owml
