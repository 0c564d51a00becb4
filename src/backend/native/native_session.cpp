// Positions, capacity and checks around the forward pass.
// Driven by the runtime through BackendSession; a refused call changes nothing.
#include "backend/native/native_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backend/native/device/cuda/cuda_devices.h"
#include "base/error.h"

namespace owml::native {
namespace {

// The numbers of WINML_SPECULATIVE_ROLLBACK_BOUND and WINML_SPECULATIVE_RESIDENCY.
constexpr int32_t kRollbackUnbounded = 2;
constexpr int32_t kRollbackBounded = 3;
constexpr int32_t kResidencyHost = 1;

kernels::CacheType CacheTypeOf(KvCacheType type) {
  if (type == KvCacheType::kBF16) return kernels::CacheType::kBF16;
  if (type == KvCacheType::kQ8_0) return kernels::CacheType::kQ8;
  return kernels::CacheType::kF16;
}

// Between these, the pieces of a watched run stay as long as they are.
constexpr std::chrono::milliseconds kShortLayer{10};
constexpr std::chrono::milliseconds kLongLayer{40};

// Null for the CPU.
const owml::Device* GpuOf(const NativeSettings& settings) {
  return settings.gpu.empty() ? nullptr : FindCudaDevice(settings.gpu);
}

}  // namespace

NativeSession::NativeSession(std::shared_ptr<const ModelWeights> weights, const NativeSettings& settings)
    : weights_(std::move(weights)),
      settings_(settings),
      kernels_(kernels::KernelsFor(kernels::ChosenIsa())),
      sequences_(MakeSequences()),
      ports_(weights_->plan().vocabulary) {}

std::unique_ptr<Sequences> NativeSession::MakeSequences() const {
  const ForwardSettings settings{.capacity = settings_.capacity,
                                 .batch_size = settings_.batch_size,
                                 .threads = settings_.threads,
                                 .cache_type = CacheTypeOf(settings_.cache_type),
                                 .take_back = MaxStepWidth(),
                                 .best = max_best_tokens(),
                                 .pin_threads = settings_.pin_threads};
  const owml::Device* gpu = GpuOf(settings_);
  auto sequences =
      std::make_unique<Sequences>(weights_, settings, gpu ? MakeCudaDevice(*gpu) : OnCpu(settings, kernels_));
  sequences->Add();
  return sequences;
}

SessionReport NativeSession::report() const {
  SessionReport report;
  const owml::Device* gpu = GpuOf(settings_);
  const std::string where = gpu ? gpu->id + ", " + gpu->name : std::string(kernels::Name(kernels_.isa));
  report.engine = "OpenWinML native (" + where + ")";
  report.engine_reason = "native engine (" + where + "): " + settings_.engine_reason;
  report.device = gpu ? DeviceKind::kGpu : DeviceKind::kCpu;
  report.intra_op_threads = sequences_->threads();
  report.engine_kind = Engine::kNative;
  report.kv_cache_type = settings_.cache_type;
  report.batch_size = settings_.batch_size;
  return report;
}

void NativeSession::Append(const Continuation& next, const StepResults& results) {
  if (check_) {
    AppendWatched(next, results);
  } else {
    sequences_->Step({&next, 1}, results);
  }
}

// Larger pieces go faster and are noticed later. Their size changes no bit of the result.
void NativeSession::AppendWatched(const Continuation& next, const StepResults& results) {
  sequences_->Check({&next, 1}, results);
  const uint64_t start = position();
  std::span<const int32_t> tokens = next.tokens;
  while (!tokens.empty()) {
    const size_t count = next.rows == LogitRows::kAll ? tokens.size() : std::min(tokens.size(), watched_piece_);
    Continuation piece = next;
    piece.tokens = tokens.first(count);
    if (count < tokens.size()) piece.rows = LogitRows::kNone;
    const auto begin = std::chrono::steady_clock::now();
    try {
      sequences_->Step({&piece, 1}, results, check_.get());
    } catch (...) {
      sequences_->RewindTo(kSlot, sequences_->CanRewindTo(kSlot, start) ? start : 0);
      pending_.reset();
      throw;
    }
    const auto layer = (std::chrono::steady_clock::now() - begin) / weights_->plan().layers.size();
    if (layer > kLongLayer) watched_piece_ = std::max<size_t>(1, watched_piece_ / 2);
    if (layer < kShortLayer && count == watched_piece_) {
      watched_piece_ = std::min<size_t>(settings_.batch_size, watched_piece_ * 2);
    }
    tokens = tokens.subspan(count);
  }
}

void NativeSession::Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) {
  ports_.Run(inputs, outputs, [this](std::span<const int32_t> tokens, float* logits) {
    if (logits) {
      Append({kSlot, tokens, LogitRows::kLast}, {.logits = {logits, row_stride()}});
    } else {
      Append({kSlot, tokens, LogitRows::kNone}, {});
    }
    pending_.reset();
  });
}

void NativeSession::RunForBest(std::span<const InputValue> inputs, std::span<TokenLogit> best) {
  const auto count = static_cast<uint32_t>(std::min<size_t>(best.size(), UINT32_MAX));
  Append({kSlot, ports_.TokensOf(inputs), LogitRows::kLast, /*best=*/true}, {.best = best, .best_count = count});
  pending_.reset();
}

void NativeSession::Reset() { RewindTo(0); }

void NativeSession::RewindTo(uint64_t position) {
  sequences_->RewindTo(kSlot, position);
  pending_.reset();
}

void NativeSession::SetCapacity(uint64_t capacity) {
  CheckNativeCapacity(capacity);
  const uint64_t before = std::exchange(settings_.capacity, capacity);
  try {
    sequences_ = MakeSequences();
  } catch (...) {
    settings_.capacity = before;
    throw;
  }
  pending_.reset();
}

SpeculativeLimits NativeSession::limits() const {
  SpeculativeLimits limits;
  limits.max_step_width = MaxStepWidth();
  limits.max_logit_rows = limits.max_step_width;
  const std::optional<uint64_t> depth = sequences_->depth();
  limits.rollback_bound = depth ? kRollbackBounded : kRollbackUnbounded;
  limits.max_rollback_depth = depth.value_or(0);
  limits.residency = kResidencyHost;
  return limits;
}

void NativeSession::StepAllPositions(std::span<const int32_t> tokens, std::span<float> logits) {
  RequireStepFits(tokens, logits, MaxStepWidth(), row_stride());
  const uint64_t start = position();
  Append({kSlot, tokens, LogitRows::kAll}, {.logits = logits});
  pending_ = PendingStep{start, static_cast<uint32_t>(tokens.size())};
}

void NativeSession::CommitAcceptedPrefix(uint32_t accepted) {
  if (!pending_) throw Error(E_NOT_VALID_STATE, "there is no pending step to commit");
  if (accepted > pending_->width) {
    throw Error(E_INVALIDARG, std::to_string(accepted) + " accepted tokens are more than the " +
                                  std::to_string(pending_->width) + " of the pending step");
  }
  RewindTo(pending_->start + accepted);
}

uint32_t NativeSession::ProposeDraftTokens(int32_t, std::span<int32_t>) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the stage has no draft predictor");
}

}  // namespace owml::native
