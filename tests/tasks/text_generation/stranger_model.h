// A language model as an application might write it: pipeline, stage, schema and sequence in one object, nothing of
// ours. Its logits are a function of the whole sequence, so that tests can say what must come out.
#pragma once

#include <WinMLRuntime.h>
#include <openwinml/pipeline_best_tokens.h>
#include <openwinml/stage_cancellation.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#include "com/com_ptr.h"
#include "tensor/stranger_tensor.h"

namespace owml::test {

using Tokens = std::vector<UINT32>;

class StrangerModel final : public IWinMLPipeline,
                            public IWinMLStage,
                            public IWinMLStageSchema,
                            public IWinMLStatefulStage,
                            public IOwmlStageCancellation,
                            public IOwmlPipelineBestTokens {
 public:
  explicit StrangerModel(UINT32 vocabulary) : vocabulary_(vocabulary) {
    // A letter (see StrangerTokenizer) that depends on everything before it.
    logits_of = [vocabulary](const Tokens& seen) {
      UINT32 sum = 0;
      for (const UINT32 token : seen) sum = sum * 5 + token + 3;
      std::vector<float> logits(vocabulary, 0.0f);
      logits[1 + sum % 10] = 1.0f;
      return logits;
    };
  }
  virtual ~StrangerModel() = default;

  // What it does.
  std::function<std::vector<float>(const Tokens&)> logits_of;
  std::function<HRESULT(size_t run)> before_run = [](size_t) { return S_OK; };  // a failure is the run's
  UINT64 capacity = 64;
  HRESULT capacity_result = S_OK;
  HRESULT reset_result = S_OK;
  HRESULT request_result = S_OK;
  HRESULT rewind_result = S_OK;
  WINML_TENSOR_DATA_TYPE token_type = WINML_TENSOR_DATA_TYPE_INT32;
  std::vector<UINT64> token_dims = {1, UINT64_MAX};
  WINML_TENSOR_DATA_TYPE output_type = WINML_TENSOR_DATA_TYPE_FLOAT32;
  bool samples = false;  // gives the token of the highest logit, as INT32
  bool has_schema = true;
  bool has_sequence = true;
  UINT32 step_width = 0;  // tokens of a step over several positions; 0 = it can do none
  WINML_SPECULATIVE_ROLLBACK_BOUND rollback = WINML_SPECULATIVE_ROLLBACK_BOUND_UNBOUNDED;
  UINT64 rollback_depth = 0;
  std::function<void(size_t tokens)> before_step = [](size_t) {};
  UINT32 predictor_limit = 0;
  std::function<Tokens(const Tokens& sequence, UINT32 pending, UINT32 count)> predicts;
  bool can_end_runs = false;  // offers IOwmlStageCancellation
  UINT32 most_best = 0;       // offers IOwmlPipelineBestTokens with as many; 0 = it does not
  std::function<void(std::vector<OWML_TOKEN_LOGIT>*)> spoil_best = [](auto*) {};
  bool all_rows = false;  // a row for each token of the run, the first ones rubbish
  StrangerConduct output_conduct;

  // What it saw.
  std::vector<Tokens> runs;
  Tokens sequence;
  int resets = 0;
  std::vector<Tokens> steps;  // over several positions
  std::vector<UINT32> lists;  // lengths of those that runs gave instead of a row
  ComPtr<IWinMLCancellationSource> watched;
  bool input_bound() const { return input_ != nullptr; }
  bool output_requested() const { return requested_; }
  ULONG references() const { return references_; }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (!object) return E_POINTER;
    *object = nullptr;
    if (iid == __uuidof(IUnknown) || iid == __uuidof(IWinMLPipeline)) *object = static_cast<IWinMLPipeline*>(this);
    if (iid == __uuidof(IWinMLStage)) *object = static_cast<IWinMLStage*>(this);
    if (iid == __uuidof(IWinMLStageSchema) && has_schema) *object = static_cast<IWinMLStageSchema*>(this);
    if (iid == __uuidof(IWinMLStatefulStage) && has_sequence) *object = static_cast<IWinMLStatefulStage*>(this);
    if (iid == __uuidof(IOwmlStageCancellation) && can_end_runs) *object = static_cast<IOwmlStageCancellation*>(this);
    if (iid == __uuidof(IOwmlPipelineBestTokens) && most_best) *object = static_cast<IOwmlPipelineBestTokens*>(this);
    if (!*object) return E_NOINTERFACE;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

  HRESULT STDMETHODCALLTYPE Run() override {
    const HRESULT result = TakeTokens();
    if (SUCCEEDED(result) && requested_) produced_ = Output(runs.back().size());
    return result;
  }
  HRESULT STDMETHODCALLTYPE GetMaxBestTokenCount(UINT32* count) override {
    *count = most_best;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE RunForBestTokens(UINT32 count, OWML_TOKEN_LOGIT* best) override {
    if (requested_) return E_NOT_VALID_STATE;
    if (count == 0 || count > most_best) return E_INVALIDARG;
    const HRESULT result = TakeTokens();
    if (FAILED(result)) return result;
    const std::vector<float> logits = logits_of(sequence);
    std::vector<OWML_TOKEN_LOGIT> all;
    for (const float logit : logits) all.push_back({static_cast<UINT32>(all.size()), logit});
    std::stable_sort(all.begin(), all.end(), [](const OWML_TOKEN_LOGIT& a, const OWML_TOKEN_LOGIT& b) {
      const bool a_bad = !(a.logit <= 3e38f), b_bad = !(b.logit <= 3e38f);
      return a_bad || b_bad ? a_bad && !b_bad : a.logit > b.logit;
    });
    all.resize(count);
    spoil_best(&all);
    std::copy(all.begin(), all.end(), best);
    lists.push_back(count);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE ResetExecutionState() override {
    if (FAILED(reset_result)) return reset_result;
    ++resets;
    sequence.clear();
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE GetDebugName(LPCWSTR* name) override {
    *name = L"stranger";
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE BindInput(UINT32 index, IWinMLTensor* tensor) override {
    if (index != 0) return E_INVALIDARG;
    input_ = tensor;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE BindOutput(UINT32, IWinMLTensor*) override {
    return HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
  }
  HRESULT STDMETHODCALLTYPE GetOutput(UINT32, IWinMLTensor** tensor) override {
    *tensor = nullptr;
    if (!requested_) return HRESULT_FROM_WIN32(ERROR_NOT_FOUND);
    if (!produced_) return E_NOT_VALID_STATE;
    *tensor = AddedRef(produced_.Get());
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE RequestOutput(UINT32) override {
    if (SUCCEEDED(request_result)) requested_ = true;
    return request_result;
  }
  HRESULT STDMETHODCALLTYPE ResetOutput(UINT32) override {
    requested_ = false;
    produced_.Reset();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetExecutionTarget(IWinMLExecutionTarget** target) override {
    *target = nullptr;
    return HRESULT_FROM_WIN32(ERROR_NOT_FOUND);
  }

  HRESULT STDMETHODCALLTYPE GetInputCount(UINT32* count) override {
    *count = 1;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetInputTensorDesc(UINT32 index, WINML_TENSOR_DESC* desc) override {
    if (index != 0) return E_INVALIDARG;
    *desc = {token_type, static_cast<UINT32>(token_dims.size()), token_dims.data()};
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetOutputCount(UINT32* count) override {
    *count = 1;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetOutputTensorDesc(UINT32 index, WINML_TENSOR_DESC* desc) override {
    if (index != 0) return E_INVALIDARG;
    output_dims_ = {1, all_rows ? UINT64_MAX : 1, samples ? 1 : vocabulary_};
    *desc = {samples ? WINML_TENSOR_DATA_TYPE_INT32 : output_type, samples ? 2u : 3u, output_dims_.data()};
    return S_OK;
  }

  HRESULT STDMETHODCALLTYPE GetSequenceCapacity(UINT64* value) override {
    *value = capacity;
    return capacity_result;
  }
  HRESULT STDMETHODCALLTYPE GetDeclaredSequenceCapacity(WINML_SEQUENCE_CAPACITY_DISCLOSURE*, UINT64*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetSequencePosition(UINT64* position) override {
    *position = sequence.size();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE RewindTo(UINT64 position) override {
    if (FAILED(rewind_result)) return rewind_result;
    if (position > sequence.size()) return E_INVALIDARG;
    const bool bounded = rollback == WINML_SPECULATIVE_ROLLBACK_BOUND_BOUNDED;
    if (bounded && position != 0 && sequence.size() - position > rollback_depth) return E_INVALIDARG;
    sequence.resize(position);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetCancellationSource(IWinMLCancellationSource* source) override {
    watched = source;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetSequenceCapacity(UINT64) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetSpeculativeCapabilities(WINML_SPECULATIVE_CAPABILITIES* capabilities) override {
    if (step_width == 0) return E_NOTIMPL;
    *capabilities = {step_width,     step_width, rollback, rollback_depth, WINML_SPECULATIVE_RESIDENCY_HOST,
                     predictor_limit};
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE StepAllPositions(const INT32* tokens, UINT32 count, FLOAT* logits, UINT64 room,
                                             UINT32* rows, UINT32* stride) override {
    before_step(count);
    if (count > step_width || room < count * vocabulary_) return E_INVALIDARG;
    if (capacity != 0 && sequence.size() + count > capacity) return E_FAIL;
    step_start_ = sequence.size();
    steps.emplace_back(tokens, tokens + count);
    for (UINT32 i = 0; i < count; ++i) {
      sequence.push_back(static_cast<UINT32>(tokens[i]));
      const std::vector<float> row = logits_of(sequence);
      std::copy(row.begin(), row.end(), logits + i * vocabulary_);
    }
    *rows = count;
    *stride = static_cast<UINT32>(vocabulary_);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE CommitAcceptedPrefix(UINT32 count, UINT64* position) override {
    if (step_start_ + count > sequence.size()) return E_INVALIDARG;
    sequence.resize(step_start_ + count);
    *position = sequence.size();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE ProposeDraftTokens(INT32 pending, UINT32 most, INT32* tokens, UINT32* count) override {
    const Tokens drafts = predicts(sequence, static_cast<UINT32>(pending), most);
    std::copy(drafts.begin(), drafts.end(), tokens);
    *count = static_cast<UINT32>(drafts.size());
    return S_OK;
  }

 private:
  HRESULT TakeTokens() {
    const HRESULT result = before_run(runs.size());
    if (FAILED(result)) return result;
    const Tokens tokens = BoundTokens();
    if (capacity != 0 && sequence.size() + tokens.size() > capacity) return E_FAIL;
    runs.push_back(tokens);
    sequence.insert(sequence.end(), tokens.begin(), tokens.end());
    return S_OK;
  }

  Tokens BoundTokens() const {
    if (!input_) throw std::runtime_error("no tokens are bound");
    WINML_TENSOR_DESC desc = {};
    ComPtr<IWinMLTensorDataLock> lock;
    BYTE* data = nullptr;
    UINT64 bytes = 0;
    input_->GetDesc(&desc);
    input_->Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE, lock.GetAddressOf());
    lock->GetData(&data, &bytes);
    if (desc.dataType != token_type || desc.dimensionCount != token_dims.size()) {
      throw std::runtime_error("tokens of another form");
    }
    const size_t size = desc.dataType == WINML_TENSOR_DATA_TYPE_INT64 ? 8 : 4;
    Tokens tokens(bytes / size);
    for (size_t i = 0; i < tokens.size(); ++i) std::memcpy(&tokens[i], data + i * size, 4);  // little-endian
    if (desc.dimensions[desc.dimensionCount - 1] != tokens.size()) throw std::runtime_error("another extent");
    return tokens;
  }

  ComPtr<IWinMLTensor> Output(size_t rows) {
    const std::vector<float> logits = logits_of(sequence);
    std::vector<BYTE> bytes;
    const auto append = [&](const void* from, size_t size) {
      bytes.insert(bytes.end(), static_cast<const BYTE*>(from), static_cast<const BYTE*>(from) + size);
    };
    ComPtr<IWinMLTensor> tensor;
    if (samples) {
      INT32 best = 0;
      for (size_t i = 1; i < logits.size(); ++i) {
        if (logits[i] > logits[static_cast<size_t>(best)]) best = static_cast<INT32>(i);
      }
      append(&best, sizeof best);
      tensor.Attach(new StrangerTensor(WINML_TENSOR_DATA_TYPE_INT32, {1, 1}, bytes, output_conduct));
      return tensor;
    }
    if (!all_rows) rows = 1;
    const std::vector<float> rubbish(logits.size(), 7.0f);
    for (size_t row = 0; row < rows; ++row) {
      for (const float logit : row + 1 == rows ? logits : rubbish) {
        uint32_t bits;
        std::memcpy(&bits, &logit, sizeof bits);
        const uint16_t brain = static_cast<uint16_t>(bits >> 16);
        const uint16_t half = logit == 0 ? 0 : 0x3C00;  // 0 and 1 are all that tests in half precision use
        if (output_type == WINML_TENSOR_DATA_TYPE_FLOAT32) append(&logit, sizeof logit);
        if (output_type == WINML_TENSOR_DATA_TYPE_FLOAT16) append(&half, sizeof half);
        if (output_type == WINML_TENSOR_DATA_TYPE_BFLOAT16) append(&brain, sizeof brain);
      }
    }
    tensor.Attach(new StrangerTensor(output_type, {1, rows, logits.size()}, bytes, output_conduct));
    return tensor;
  }

  const UINT64 vocabulary_;
  size_t step_start_ = 0;
  std::vector<UINT64> output_dims_;
  ComPtr<IWinMLTensor> input_;
  ComPtr<IWinMLTensor> produced_;
  bool requested_ = false;
  std::atomic<ULONG> references_{1};
};

}  // namespace owml::test
