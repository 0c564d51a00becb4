// Positions, capacity and checks around the forward pass.
// Driven by the runtime through BackendSession; a refused call changes nothing.
#include "backend/native/native_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"

namespace owml::native {
namespace {

// The numbers of WINML_SPECULATIVE_ROLLBACK_BOUND and WINML_SPECULATIVE_RESIDENCY.
constexpr int32_t kRollbackUnbounded = 2;
constexpr int32_t kResidencyHost = 1;

kernels::CacheType CacheTypeOf(KvCacheType type) {
  if (type == KvCacheType::kBF16) return kernels::CacheType::kBF16;
  if (type == KvCacheType::kQ8_0) return kernels::CacheType::kQ8;
  return kernels::CacheType::kF16;
}

// Between these, the pieces of a watched run stay as long as they are.
constexpr std::chrono::milliseconds kShortLayer{10};
constexpr std::chrono::milliseconds kLongLayer{40};

}  // namespace

NativeSession::NativeSession(std::shared_ptr<const ModelWeights> weights, const NativeSettings& settings)
    : weights_(std::move(weights)),
      settings_(settings),
      kernels_(kernels::KernelsFor(kernels::ChosenIsa())),
      forward_(MakeForward()),
      ports_(weights_->plan().vocabulary) {}

std::unique_ptr<Forward> NativeSession::MakeForward() const {
  const ForwardSettings settings{settings_.capacity, settings_.batch_size, settings_.threads,
                                 CacheTypeOf(settings_.cache_type)};
  return std::make_unique<Forward>(weights_, settings, kernels_);
}

SessionReport NativeSession::report() const {
  SessionReport report;
  report.engine = "OpenWinML native (" + std::string(kernels::Name(kernels_.isa)) + ")";
  report.engine_reason = "native engine (" + std::string(kernels::Name(kernels_.isa)) + "): " + settings_.engine_reason;
  report.device = DeviceKind::kCpu;
  report.intra_op_threads = forward_->threads();
  report.engine_kind = Engine::kNative;
  report.kv_cache_type = settings_.cache_type;
  report.batch_size = settings_.batch_size;
  return report;
}

void NativeSession::Append(std::span<const int32_t> tokens, LogitRows rows, float* logits) {
  if (tokens.empty()) throw Error(E_INVALIDARG, "there are no tokens to append");
  for (const int32_t token : tokens) {
    if (token < 0 || static_cast<uint32_t>(token) >= row_stride()) {
      throw Error(E_INVALIDARG, "token id " + std::to_string(token) + " is outside the vocabulary of " +
                                    std::to_string(row_stride()) + " tokens");
    }
  }
  if (tokens.size() > capacity() || position_ > capacity() - tokens.size()) {
    throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
                std::to_string(tokens.size()) + " tokens at position " + std::to_string(position_) +
                    " do not fit the sequence capacity of " + std::to_string(capacity()));
  }
  if (check_) {
    RunWatched(tokens, rows, logits);
  } else {
    forward_->Run(tokens, position_, rows, logits);
  }
  position_ += tokens.size();
}

// Larger pieces go faster and are noticed later. Their size changes no bit of the result.
void NativeSession::RunWatched(std::span<const int32_t> tokens, LogitRows rows, float* logits) {
  uint64_t position = position_;
  while (!tokens.empty()) {
    const size_t count = rows == LogitRows::kAll ? tokens.size() : std::min(tokens.size(), watched_piece_);
    const LogitRows wanted = count == tokens.size() ? rows : LogitRows::kNone;
    const auto start = std::chrono::steady_clock::now();
    if (!forward_->Run(tokens.first(count), position, wanted, logits, check_.get())) {
      throw Error(HRESULT_FROM_WIN32(ERROR_CANCELLED), "the run was cancelled");
    }
    const auto layer = (std::chrono::steady_clock::now() - start) / weights_->plan().layers.size();
    if (layer > kLongLayer) watched_piece_ = std::max<size_t>(1, watched_piece_ / 2);
    if (layer < kShortLayer && count == watched_piece_) {
      watched_piece_ = std::min<size_t>(settings_.batch_size, watched_piece_ * 2);
    }
    position += count;
    tokens = tokens.subspan(count);
  }
}

void NativeSession::Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) {
  ports_.Run(inputs, outputs, [this](std::span<const int32_t> tokens, float* logits) {
    Append(tokens, logits ? LogitRows::kLast : LogitRows::kNone, logits);
    pending_.reset();
  });
}

void NativeSession::Reset() {
  pending_.reset();
  position_ = 0;
}

void NativeSession::RewindTo(uint64_t position) {
  if (position > position_) {
    throw Error(E_INVALIDARG, "cannot rewind to position " + std::to_string(position) + ": the sequence is at " +
                                  std::to_string(position_));
  }
  position_ = position;
  pending_.reset();
}

void NativeSession::SetCapacity(uint64_t capacity) {
  CheckNativeCapacity(capacity);
  const uint64_t before = std::exchange(settings_.capacity, capacity);
  try {
    forward_ = MakeForward();
  } catch (...) {
    settings_.capacity = before;
    throw;
  }
  Reset();
}

SpeculativeLimits NativeSession::limits() const {
  SpeculativeLimits limits;
  limits.max_step_width = (settings_.draft_limit ? settings_.draft_limit : kMaxDraftTokens) + 1;
  limits.max_logit_rows = limits.max_step_width;
  limits.rollback_bound = kRollbackUnbounded;
  limits.residency = kResidencyHost;
  return limits;
}

void NativeSession::StepAllPositions(std::span<const int32_t> tokens, std::span<float> logits) {
  RequireStepFits(tokens, logits, limits().max_step_width, row_stride());
  const uint64_t start = position_;
  Append(tokens, LogitRows::kAll, logits.data());
  pending_ = PendingStep{start, static_cast<uint32_t>(tokens.size())};
}

void NativeSession::CommitAcceptedPrefix(uint32_t accepted) {
  if (!pending_) throw Error(E_NOT_VALID_STATE, "there is no pending step to commit");
  if (accepted > pending_->width) {
    throw Error(E_INVALIDARG, std::to_string(accepted) + " accepted tokens are more than the " +
                                  std::to_string(pending_->width) + " of the pending step");
  }
  position_ = pending_->start + accepted;
  pending_.reset();
}

uint32_t NativeSession::ProposeDraftTokens(int32_t, std::span<int32_t>) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the stage has no draft predictor");
}

}  // namespace owml::native
