// Tokens to logits over a LlamaSequence, rewinding, and steps that are verified token by token.
// Driven by the runtime through BackendSession.
#include "backend/llama/llama_session.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace owml {
namespace {

// The numbers of WINML_SPECULATIVE_ROLLBACK_BOUND and WINML_SPECULATIVE_RESIDENCY.
constexpr int32_t kRollbackUnsupported = 1;
constexpr int32_t kRollbackUnbounded = 2;
constexpr int32_t kRollbackBounded = 3;
constexpr int32_t kResidencyHost = 1;
constexpr int32_t kResidencyDeviceWithReadback = 2;

}  // namespace

LlamaSession::LlamaSession(std::shared_ptr<llama_model> model, const LlamaSettings& settings,
                           const LlamaModelFacts& facts, std::string engine)
    : settings_(settings),
      declared_capacity_(facts.declared_capacity),
      engine_(std::move(engine)),
      sequence_(std::move(model), settings, facts.label),
      ports_(sequence_.vocabulary_size()) {}

SessionReport LlamaSession::report() const {
  SessionReport report;
  report.engine = engine_;
  report.engine_reason = "llama.cpp: " + settings_.engine_reason;
  report.device = settings_.device.empty() ? DeviceKind::kCpu : DeviceKind::kGpu;
  report.intra_op_threads = settings_.threads;
  report.engine_kind = Engine::kLlama;
  report.kv_cache_type = settings_.cache_type;
  report.batch_size = sequence_.batch_size();
  return report;
}

void LlamaSession::Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) {
  ports_.Run(inputs, outputs, [this](std::span<const int32_t> tokens, float* logits) {
    sequence_.Append(tokens, logits ? LlamaSequence::Rows::kLast : LlamaSequence::Rows::kNone, logits);
    pending_.reset();
  });
}

void LlamaSession::Reset() {
  pending_.reset();
  sequence_.Clear();
}

void LlamaSession::RewindTo(uint64_t position) {
  if (position > sequence_.position()) {
    throw Error(E_INVALIDARG, "cannot rewind to position " + std::to_string(position) + ": the sequence is at " +
                                  std::to_string(sequence_.position()));
  }
  if (!sequence_.TruncateTo(position)) {
    throw Error(E_INVALIDARG, "this model cannot be rewound from position " + std::to_string(sequence_.position()) +
                                  " to " + std::to_string(position) + ": its state has no history");
  }
  pending_.reset();
}

void LlamaSession::SetCapacity(uint64_t capacity) {
  sequence_.SetCapacity(capacity);
  settings_.capacity = capacity;
  pending_.reset();
}

SpeculativeLimits LlamaSession::limits() const {
  SpeculativeLimits limits;
  limits.max_step_width = (settings_.draft_limit ? settings_.draft_limit : kLlamaMaxDraftTokens) + 1;
  limits.rollback_bound = kRollbackUnbounded;
  if (const auto bound = sequence_.rollback_bound()) {
    limits.max_step_width = std::min(limits.max_step_width, *bound);
    limits.rollback_bound = *bound ? kRollbackBounded : kRollbackUnsupported;
    limits.max_rollback_depth = *bound;
  }
  limits.max_logit_rows = limits.max_step_width;
  limits.residency = settings_.device.empty() ? kResidencyHost : kResidencyDeviceWithReadback;
  return limits;
}

void LlamaSession::StepAllPositions(std::span<const int32_t> tokens, std::span<float> logits) {
  const uint32_t width = limits().max_step_width;
  if (width == 0) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                "this model cannot take tokens back without a draft token limit set before Build");
  }
  RequireStepFits(tokens, logits, width, row_stride());
  const uint64_t start = sequence_.position();
  sequence_.Append(tokens, LlamaSequence::Rows::kAll, logits.data());
  pending_ = PendingStep{start, static_cast<uint32_t>(tokens.size())};
}

void LlamaSession::CommitAcceptedPrefix(uint32_t accepted) {
  // A failed run may have lost the sequence that the step belonged to.
  if (!pending_ || pending_->start + pending_->width != sequence_.position()) {
    throw Error(E_NOT_VALID_STATE, "there is no pending step to commit");
  }
  if (accepted > pending_->width) {
    throw Error(E_INVALIDARG, std::to_string(accepted) + " accepted tokens are more than the " +
                                  std::to_string(pending_->width) + " of the pending step");
  }
  if (!sequence_.TruncateTo(pending_->start + accepted)) {
    throw Error(E_FAIL, "llama.cpp could not take back " + std::to_string(pending_->width - accepted) + " tokens");
  }
  pending_.reset();
}

uint32_t LlamaSession::ProposeDraftTokens(int32_t, std::span<int32_t>) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the stage has no draft predictor");
}

}  // namespace owml
