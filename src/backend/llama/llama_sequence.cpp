// Feeding a llama.cpp context in batches, taking tokens back, and getting over failures.
// The context is told every position, so that this class and not llama.cpp decides where tokens go.
#include "backend/llama/llama_sequence.h"

#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <llama.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "llama/llama_artifact.h"
#include "llama/llama_hooks.h"

namespace owml {
namespace {

constexpr uint32_t kMaxMicroBatch = 512;

ggml_type GgmlTypeOf(KvCacheType type) {
  switch (type) {
    case KvCacheType::kDefault:
    case KvCacheType::kF16:
      return GGML_TYPE_F16;
    case KvCacheType::kBF16:
      return GGML_TYPE_BF16;
    case KvCacheType::kQ8_0:
      return GGML_TYPE_Q8_0;
    case KvCacheType::kF32:
      return GGML_TYPE_F32;
  }
  throw Error(E_INVALIDARG, "unknown cache type " + std::to_string(static_cast<int>(type)));
}

void NoThreadPool(ggml_threadpool*) {}

// Threads that wait between graphs, instead of a new set for each token. Null where one thread does all.
std::unique_ptr<ggml_threadpool, void (*)(ggml_threadpool*)> MakeThreadPool(uint32_t threads) {
  const ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (threads > 1 && cpu) {
    const ggml_backend_reg_t module = ggml_backend_dev_backend_reg(cpu);
    const auto make = reinterpret_cast<decltype(&ggml_threadpool_new)>(
        ggml_backend_reg_get_proc_address(module, "ggml_threadpool_new"));
    const auto free = reinterpret_cast<decltype(&ggml_threadpool_free)>(
        ggml_backend_reg_get_proc_address(module, "ggml_threadpool_free"));
    if (make && free) {
      ggml_threadpool_params params = ggml_threadpool_params_default(static_cast<int>(threads));
      return {make(&params), free};
    }
  }
  return {nullptr, NoThreadPool};
}

}  // namespace

LlamaSequence::LlamaSequence(std::shared_ptr<llama_model> model, const LlamaSettings& settings, std::string label)
    : model_(std::move(model)),
      settings_(settings),
      label_(std::move(label)),
      vocabulary_size_(static_cast<uint32_t>(llama_vocab_n_tokens(llama_model_get_vocab(model_.get())))),
      threads_(MakeThreadPool(settings.threads)),
      context_(MakeContext(settings)) {
  if (!llama_get_memory(context_.get()) || !llama_get_causal_attn(context_.get())) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                label_ + " does not continue text: it is an embedding model or the like");
  }
  if (llama_model_is_recurrent(model_.get()) || llama_model_is_hybrid(model_.get())) {
    rollback_bound_ = llama_n_rs_seq(context_.get());
  }
  const size_t batch = batch_size();
  positions_.resize(batch);
  sequence_counts_.assign(batch, 1);
  sequence_ids_.assign(batch, &sequence_zero_);
  wants_logits_.resize(batch);
}

LlamaSequence::~LlamaSequence() = default;

uint32_t LlamaSequence::batch_size() const { return llama_n_batch(context_.get()); }

LlamaSequence::Context LlamaSequence::MakeContext(const LlamaSettings& settings) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<uint32_t>(settings.capacity);
  params.n_batch = settings.batch_size;
  params.n_ubatch = std::min(settings.batch_size, kMaxMicroBatch);
  params.n_seq_max = 1;
  // Room to take back a whole step; only models that cannot go back otherwise use it.
  params.n_rs_seq = settings.draft_limit ? settings.draft_limit + 1 : 0;
  params.n_outputs_max = settings.draft_limit + 1;
  params.n_outputs_max_per_seq = params.n_outputs_max;
  params.n_threads = static_cast<int32_t>(settings.threads);
  params.n_threads_batch = params.n_threads;
  params.type_k = GgmlTypeOf(settings.cache_type);
  params.type_v = params.type_k;

  const LlamaErrorLines lines;
  std::string reason;
  try {
    Context context(llama_init_from_model(model_.get(), params), llama_free);
    if (context) {
      if (threads_) llama_attach_threadpool(context.get(), threads_.get(), threads_.get());
      return context;
    }
    reason = lines.Reason();
  } catch (const LlamaAssertion& assertion) {
    reason = assertion.what();
  }
  const bool memory = reason.find("alloc") != std::string::npos;
  throw Error(memory ? E_OUTOFMEMORY : E_INVALIDARG, label_ + ": llama.cpp cannot make a context of " +
                                                         std::to_string(settings.capacity) + " tokens: " + reason);
}

void LlamaSequence::Check(std::span<const int32_t> tokens) const {
  if (tokens.empty()) throw Error(E_INVALIDARG, "there are no tokens to append");
  for (const int32_t token : tokens) {
    if (token < 0 || static_cast<uint32_t>(token) >= vocabulary_size_) {
      throw Error(E_INVALIDARG, "token id " + std::to_string(token) + " is outside the vocabulary of " +
                                    std::to_string(vocabulary_size_) + " tokens");
    }
  }
  if (tokens.size() > capacity() || position() > capacity() - tokens.size()) {
    throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
                std::to_string(tokens.size()) + " tokens at position " + std::to_string(position()) +
                    " do not fit the sequence capacity of " + std::to_string(capacity()));
  }
}

void LlamaSequence::Append(std::span<const int32_t> tokens, Rows rows, float* logits) {
  Check(tokens);
  if (!context_) throw Error(E_FAIL, label_ + ": the sequence was lost in an earlier failure");
  tokens_.reserve(tokens_.size() + tokens.size());
  try {
    LookAtCheck(true);
    Decode(tokens, position(), rows, logits);
    LookAtCheck(false);
  } catch (...) {
    LookAtCheck(false);
    RestoreAfterFailure();
    throw;
  }
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

void LlamaSequence::Watch(std::shared_ptr<CancellationCheck> check) { check_ = std::move(check); }

// Only while an append is on its way: what restores a sequence must not be ended.
void LlamaSequence::LookAtCheck(bool look) {
  if (!check_ || !context_) return;
  const ggml_abort_callback ask = [](void* check) { return static_cast<CancellationCheck*>(check)->canceled(); };
  llama_set_abort_callback(context_.get(), look ? ask : nullptr, look ? check_.get() : nullptr);
}

void LlamaSequence::Decode(std::span<const int32_t> tokens, uint64_t position, Rows rows, float* logits) {
  const LlamaErrorLines lines;
  size_t chunk_size = positions_.size();
  // The context has room for so many rows at once.
  if (rows == Rows::kAll) chunk_size = std::min<size_t>(chunk_size, settings_.draft_limit + 1);
  for (size_t done = 0; done < tokens.size();) {
    const auto chunk = tokens.subspan(done, std::min(chunk_size, tokens.size() - done));
    const bool last = done + chunk.size() == tokens.size();
    try {
      DecodeChunk(chunk, position + done, rows == Rows::kAll, rows == Rows::kLast && last);
      const size_t first_row = rows == Rows::kAll ? 0 : chunk.size() - 1;
      for (size_t i = first_row; i < chunk.size() && (rows == Rows::kAll || (rows == Rows::kLast && last)); ++i) {
        const float* row = llama_get_logits_ith(context_.get(), static_cast<int32_t>(i));
        if (!row) throw Error(E_FAIL, label_ + ": llama.cpp gave no logits: " + lines.Reason());
        std::memcpy(logits, row, size_t{vocabulary_size_} * sizeof(float));
        logits += vocabulary_size_;
      }
    } catch (const LlamaAssertion& assertion) {
      damaged_ = true;
      throw Error(E_FAIL, label_ + ": llama.cpp failed: " + assertion.what());
    } catch (const Error& error) {
      const std::string reason = lines.Reason();
      throw Error(error.code(), error.what() + (reason.empty() ? "" : ": " + reason));
    }
    done += chunk.size();
  }
}

void LlamaSequence::DecodeChunk(std::span<const int32_t> tokens, uint64_t position, bool all_rows, bool last_row) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    positions_[i] = static_cast<int32_t>(position + i);
    wants_logits_[i] = all_rows || (last_row && i + 1 == tokens.size());
  }
  llama_batch batch{};
  batch.n_tokens = static_cast<int32_t>(tokens.size());
  batch.token = const_cast<int32_t*>(tokens.data());  // only read
  batch.pos = positions_.data();
  batch.n_seq_id = sequence_counts_.data();
  batch.seq_id = sequence_ids_.data();
  batch.logits = wants_logits_.data();
  switch (const int32_t result = llama_decode(context_.get(), batch)) {
    case 0:
      return RequireWholeFiles(model_, label_);
    case 1:
      throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER), label_ + ": llama.cpp found no room for the tokens");
    case 2:
      throw Error(HRESULT_FROM_WIN32(ERROR_CANCELLED), label_ + ": the run was cancelled");
    case -2:
      throw Error(E_OUTOFMEMORY, label_ + ": llama.cpp could not get the memory for the run");
    default:
      throw Error(E_FAIL, label_ + ": llama.cpp failed with " + std::to_string(result));
  }
}

bool LlamaSequence::TruncateMemory(uint64_t position) {
  const llama_memory_t memory = llama_get_memory(context_.get());
  if (position == 0) {
    llama_memory_clear(memory, /*data=*/false);
    return true;
  }
  return llama_memory_seq_rm(memory, 0, static_cast<llama_pos>(position), -1);
}

void LlamaSequence::RestoreAfterFailure() noexcept {
  try {
    if (damaged_) {
      context_.reset();
      context_ = MakeContext(settings_);
      damaged_ = false;
    } else if (TruncateMemory(position())) {
      return;
    } else {
      llama_memory_clear(llama_get_memory(context_.get()), /*data=*/false);
    }
    if (!tokens_.empty()) Decode(tokens_, 0, Rows::kNone, nullptr);
  } catch (const std::exception& error) {
    Log(OWML_LOG_LEVEL_ERROR, "llama", label_ + ": the sequence is lost: " + error.what());
    tokens_.clear();
    if (damaged_) {
      context_.reset();
    } else if (context_) {
      llama_memory_clear(llama_get_memory(context_.get()), /*data=*/false);
    }
  }
}

bool LlamaSequence::TruncateTo(uint64_t position) {
  if (position == tokens_.size()) return true;
  if (!context_ || !TruncateMemory(position)) return false;
  tokens_.resize(static_cast<size_t>(position));
  return true;
}

void LlamaSequence::Clear() {
  if (!context_) context_ = MakeContext(settings_);
  damaged_ = false;
  TruncateMemory(0);
  tokens_.clear();
}

void LlamaSequence::SetCapacity(uint64_t capacity) {
  CheckLlamaCapacity(capacity);
  LlamaSettings settings = settings_;
  settings.capacity = capacity;
  Context context = MakeContext(settings);
  context_ = std::move(context);
  damaged_ = false;
  settings_ = settings;
  tokens_.clear();
  const size_t batch = batch_size();
  positions_.resize(batch);
  sequence_counts_.assign(batch, 1);
  sequence_ids_.assign(batch, &sequence_zero_);
  wants_logits_.resize(batch);
}

}  // namespace owml
