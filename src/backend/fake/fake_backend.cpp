// Models and sessions that follow a FakeScript.
// See fake_backend.h.
#include "backend/fake/fake_backend.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace owml {
namespace {

void ThrowIf(HRESULT result, const char* what) {
  if (FAILED(result)) throw Error(result, what);
}

TensorBuffer Allocate(DType dtype, Dims dims) {
  TensorBuffer buffer;
  buffer.view.dtype = dtype;
  buffer.view.bytes = ByteSize(dtype, dims).value();
  buffer.view.dims = std::move(dims);
  auto memory = std::make_shared<std::vector<std::byte>>(buffer.view.bytes + 1);
  buffer.view.data = memory->data();
  buffer.owner = std::move(memory);
  return buffer;
}

class FakeSession final : public BackendSession, public SequenceState, public SpeculativeSteps, public BestTokens {
 public:
  FakeSession(std::shared_ptr<FakeScript> script, const SessionOptions& options)
      : script_(std::move(script)), schema_(script_->built.value_or(script_->schema)), capacity_(script_->capacity) {
    if (options.sequence_capacity_hint != 0) capacity_ = options.sequence_capacity_hint;
    report_.engine = "fake";
    report_.engine_reason = "the test asked for it";
    report_.device = options.device;
    report_.provider = options.provider;
    report_.intra_op_threads = options.intra_op_threads != 0 ? options.intra_op_threads : 1;
    report_.batch_size = options.batch_size != 0 ? options.batch_size : 512;
    report_.engine_kind = Engine::kLlama;
    ++script_->live_sessions;
  }
  ~FakeSession() override { --script_->live_sessions; }

  const Schema& schema() const override { return schema_; }
  SessionReport report() const override { return report_; }

  void Run(std::span<const InputValue> inputs, std::span<OutputValue> outputs) override {
    const uint64_t tokens = BeginRun(inputs);
    std::vector<TensorBuffer> made = MakeOutputs(inputs);
    std::vector<TensorView> views;
    for (const TensorBuffer& buffer : made) views.push_back(buffer.view);
    if (script_->compute) script_->compute(inputs, views);
    ThrowIf(script_->run_result, "the script says that the run fails");
    RecordWanted(outputs);
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (!outputs[o].wanted) continue;
      if (outputs[o].destination) {
        if (outputs[o].destination->dims != made[o].view.dims)
          throw Error(E_INVALIDARG, "the bound output has another shape");
        if (made[o].view.bytes != 0) std::memcpy(outputs[o].destination->data, made[o].view.data, made[o].view.bytes);
      } else {
        outputs[o].produced = std::move(made[o]);
      }
    }
    if (script_->stateful) position_ += tokens;
    ++script_->runs;
  }

  void Reset() override {
    ++script_->resets;
    ThrowIf(script_->reset_result, "the script says that the reset fails");
    position_ = 0;
  }

  bool FeedsInput(uint32_t input) const override {
    return std::find(script_->fed_inputs.begin(), script_->fed_inputs.end(), input) != script_->fed_inputs.end();
  }
  SequenceState* sequence_state() override { return script_->stateful ? this : nullptr; }
  SpeculativeSteps* speculative_steps() override { return script_->step_width != 0 ? this : nullptr; }
  BestTokens* best_tokens() override { return script_->best_tokens != 0 ? this : nullptr; }
  ProfiledRuns* profiled_runs() override { return script_->profile.get(); }

  uint32_t max_best_tokens() const override { return script_->best_tokens; }
  void RunForBest(std::span<const InputValue> inputs, std::span<TokenLogit> best) override {
    const uint64_t tokens = BeginRun(inputs);
    for (size_t i = 0; i < best.size(); ++i) best[i] = {static_cast<int32_t>(7 + i), 0.5f - static_cast<float>(i)};
    ThrowIf(script_->run_result, "the script says that the run fails");
    if (script_->stateful) position_ += tokens;
    ++script_->runs;
  }

  uint64_t capacity() const override { return capacity_; }
  std::optional<uint64_t> declared_capacity() const override { return script_->declared_capacity; }
  uint64_t position() const override { return position_; }
  void RewindTo(uint64_t position) override {
    if (position > position_) throw Error(E_INVALIDARG, "a rewind goes back");
    position_ = position;
  }
  void SetCapacity(uint64_t capacity) override {
    if (capacity == 0) throw Error(E_INVALIDARG, "a capacity of 0");
    capacity_ = capacity;
    position_ = 0;
  }

  SpeculativeLimits limits() const override {
    SpeculativeLimits limits;
    limits.max_step_width = script_->step_width;
    limits.max_logit_rows = script_->step_width;
    limits.rollback_bound = 2;
    limits.residency = 1;
    limits.max_draft_tokens = script_->draft_tokens;
    return limits;
  }
  uint32_t row_stride() const override { return script_->vocabulary; }
  // Row i holds token i everywhere.
  void StepAllPositions(std::span<const int32_t> tokens, std::span<float> logits) override {
    ThrowIf(script_->step_result, "the script says that the step fails");
    step_start_ = position_;
    for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(tokens[i / script_->vocabulary]);
    position_ += tokens.size();
  }
  void CommitAcceptedPrefix(uint32_t accepted) override { position_ = step_start_ + accepted; }
  uint32_t ProposeDraftTokens(int32_t pending, std::span<int32_t> tokens) override {
    for (int32_t& token : tokens) token = ++pending;
    return static_cast<uint32_t>(tokens.size());
  }

 private:
  // The elements of input 0, which there is room for.
  uint64_t BeginRun(std::span<const InputValue> inputs) const {
    if (script_->during_run) script_->during_run();
    CheckInputs(inputs);
    const uint64_t tokens = inputs.empty() || !inputs[0].bound ? 0 : ElementCount(inputs[0].view.dims).value();
    if (script_->stateful && tokens > capacity_ - position_) {
      throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER), "the sequence is full");
    }
    return tokens;
  }

  // What the contract asks of every session.
  void CheckInputs(std::span<const InputValue> inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].bound) continue;
      const TensorView& view = inputs[i].view;
      if (view.dtype != schema_.inputs[i].dtype || !Matches(schema_.inputs[i].dims, view.dims)) {
        throw Error(E_INVALIDARG, "input " + std::to_string(i) + " got " + ToString(view.dtype, view.dims));
      }
    }
  }

  void RecordWanted(std::span<const OutputValue> outputs) const {
    const std::lock_guard lock(script_->mutex);
    script_->last_wanted.clear();
    for (const OutputValue& output : outputs) script_->last_wanted.push_back(output.wanted);
  }

  std::vector<TensorBuffer> MakeOutputs(std::span<const InputValue> inputs) const {
    std::vector<TensorBuffer> made;
    for (const TensorSpec& spec : schema_.outputs) {
      Dims dims = spec.dims;
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] == kFreeDimension) dims[axis] = inputs[0].view.dims.at(axis);
      }
      made.push_back(Allocate(spec.dtype, std::move(dims)));
    }
    return made;
  }

  std::shared_ptr<FakeScript> script_;
  Schema schema_;
  SessionReport report_;
  uint64_t capacity_;
  uint64_t position_ = 0;
  uint64_t step_start_ = 0;
};

class FakeModel final : public BackendModel {
 public:
  explicit FakeModel(std::shared_ptr<FakeScript> script) : script_(std::move(script)) {}

  bool is_onnx() const override { return script_->onnx; }
  const Schema* declared_schema() const override { return script_->declares_schema ? &script_->schema : nullptr; }
  std::unique_ptr<BackendSession> CreateSession(const SessionOptions& options) const override {
    {
      const std::lock_guard lock(script_->mutex);
      script_->created_with.push_back(options);
    }
    if (script_->refuses_batch_size && options.batch_size != 0) {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the script has no batch size");
    }
    ThrowIf(script_->create_result, "the script says that the model cannot be prepared");
    return std::make_unique<FakeSession>(script_, options);
  }

 private:
  std::shared_ptr<FakeScript> script_;
};

}  // namespace

std::shared_ptr<const BackendModel> MakeFakeModel(std::shared_ptr<FakeScript> script) {
  return std::make_shared<FakeModel>(std::move(script));
}

}  // namespace owml
