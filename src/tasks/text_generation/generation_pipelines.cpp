// Each run: bind tokens, Run, and remember whose output counts.
// See generation_pipelines.h.
#include "tasks/text_generation/generation_pipelines.h"

#include <openwinml/stage_cancellation.h>

#include <string>

#include "com/guard.h"

namespace owml {
namespace {

WINML_TEXT_GENERATION_EXECUTION_PROFILE ProfileOf(const Composition& composition) {
  if (composition.unified()) return WINML_TEXT_GENERATION_EXECUTION_PROFILE_SINGLE_PIPELINE;
  return composition.feedback() ? WINML_TEXT_GENERATION_EXECUTION_PROFILE_PREFILL_DECODE_PIPELINE_FEEDBACK
                                : WINML_TEXT_GENERATION_EXECUTION_PROFILE_PREFILL_DECODE_CALLER_BOUND;
}

}  // namespace

GenerationPipelines::Phase::Phase(const PhaseParts& its_parts, const char* its_name,
                                  IWinMLExecutionTarget* token_target)
    : parts(its_parts),
      name(its_name),
      input(parts.token_input.stage.Get(), parts.token_input.index, token_target,
            "the " + name + " token input " + std::to_string(parts.token_input.index)),
      output(parts.output.stage.Get(), parts.output.index, parts.output_kind,
             "the " + name + " output " + std::to_string(parts.output.index)),
      best(parts.pipeline.Get(), "the " + name + " pipeline") {}

void GenerationPipelines::Phase::Run(std::span<const uint32_t> tokens) {
  output.ReleaseLogits();  // a bound output could not be written under our lock
  if (!tokens.empty()) input.Bind(tokens);
  if (best.asked()) {
    if (best.Run()) return;
    best.Ask(0, 0);
    output.Publish();
  }
  ClearThreadError();
  const HRESULT result = parts.pipeline->Run();
  if (FAILED(result)) ThrowResult(result, "running the " + name + " pipeline");
}

GenerationPipelines::GenerationPipelines(const Composition& composition)
    : profile_(ProfileOf(composition)),
      logical_capacity_(composition.logical_capacity),
      prompt_(std::make_shared<Phase>(composition.prompt_phase(), composition.unified() ? "unified" : "prefill",
                                      composition.token_target.Get())),
      decode_(composition.unified()
                  ? prompt_
                  : std::make_shared<Phase>(composition.decode_phase(), "decode", composition.token_target.Get())),
      last_(prompt_.get()) {
  const uint64_t step = decode_->input.fixed_length();
  Require(step <= 1, E_INVALIDARG,
          "the " + decode_->name + " token input takes " + std::to_string(step) +
              " tokens a run; generation needs one that takes a single token");
  if (!composition.state_owner) return;
  const auto state = Query<IWinMLStatefulStage>(composition.state_owner.Get());
  Require(state != nullptr, E_INVALIDARG, "the state owner stage keeps no sequence (IWinMLStatefulStage)");
  if (!unified()) return;  // between two pipelines the application moves the state
  state_ = state;
  Position();
}

GenerationPipelines::~GenerationPipelines() { Withdraw(); }

uint64_t GenerationPipelines::StageCapacity() const {
  if (!state_) return 0;
  UINT64 capacity = 0;
  ClearThreadError();
  CheckResult(state_->GetSequenceCapacity(&capacity), "the state owner stage",
              "IWinMLStatefulStage::GetSequenceCapacity");
  return capacity;
}

uint64_t GenerationPipelines::Capacity() const { return logical_capacity_ ? logical_capacity_ : StageCapacity(); }

void GenerationPipelines::CheckCapacity() const {
  const uint64_t of_the_stage = StageCapacity();
  Require(of_the_stage == 0 || logical_capacity_ <= of_the_stage, E_INVALIDARG,
          "the logical capacity is " + std::to_string(logical_capacity_) + ", the state owner stage holds " +
              std::to_string(of_the_stage) + " positions");
}

uint64_t GenerationPipelines::Position() const {
  UINT64 position = 0;
  ClearThreadError();
  CheckResult(state_->GetSequencePosition(&position), "the state owner stage",
              "IWinMLStatefulStage::GetSequencePosition");
  return position;
}

void GenerationPipelines::BindCallerOutputs() {
  for (Phase* phase : {prompt_.get(), decode_.get()}) {
    while (phase->bound_outputs < phase->parts.caller_outputs.size()) {
      const CallerOutput& output = phase->parts.caller_outputs[phase->bound_outputs];
      ClearThreadError();
      const HRESULT result = output.port.stage->BindOutput(output.port.index, output.tensor.Get());
      if (FAILED(result)) {
        ThrowResult(result, "binding the caller's tensor to output " + std::to_string(output.port.index) +
                                " of a stage of the " + phase->name + " phase");
      }
      ++phase->bound_outputs;
    }
  }
}

// A pipeline of one stage is the only kind that gives its highest logits alone, so that they are those of the output.
void GenerationPipelines::Publish(uint32_t deciding) {
  const bool one_stage =
      unified() && SameObject(prompt_->parts.token_input.stage.Get(), prompt_->parts.output.stage.Get());
  if (prompt_->best.Ask(one_stage && gives_logits() ? deciding : 0, vocabulary_size())) {
    prompt_->output.Withdraw();
    return;
  }
  prompt_->output.Publish();
  if (decode_ != prompt_) decode_->output.Publish();
}

void GenerationPipelines::Forget() {
  fed_back_ = false;
  for (Phase* phase : {prompt_.get(), decode_.get()}) {
    ClearThreadError();
    const HRESULT result = phase->parts.pipeline->ResetExecutionState();
    if (FAILED(result)) ThrowResult(result, "resetting the " + phase->name + " pipeline");
    if (unified()) break;
  }
}

void GenerationPipelines::RunPrompt(std::span<const uint32_t> tokens) {
  last_ = prompt_.get();
  fed_back_ = false;
  prompt_->Run(tokens);
}

void GenerationPipelines::RunToken(uint32_t token) {
  last_ = decode_.get();
  const bool feedback = profile_ == WINML_TEXT_GENERATION_EXECUTION_PROFILE_PREFILL_DECODE_PIPELINE_FEEDBACK;
  // With feedback the first token is the seed of the edge; from then on the pipeline hands its own token on.
  decode_->Run(feedback && fed_back_ ? std::span<const uint32_t>() : std::span(&token, 1));
  fed_back_ = feedback;
}

LogitRowsView GenerationPipelines::StepAllPositions(std::span<const uint32_t> tokens) {
  prompt_->output.ReleaseLogits();
  const uint64_t width = vocabulary_size();
  Require(width != 0, E_UNEXPECTED, "the unified output does not tell how many logits a row has");
  step_tokens_.assign(tokens.begin(), tokens.end());
  step_rows_.resize(tokens.size() * static_cast<size_t>(width));
  UINT32 rows = 0;
  UINT32 stride = 0;
  ClearThreadError();
  CheckResult(state_->StepAllPositions(step_tokens_.data(), static_cast<UINT32>(tokens.size()), step_rows_.data(),
                                       step_rows_.size(), &rows, &stride),
              "the state owner stage", "IWinMLStatefulStage::StepAllPositions");
  Require(rows == tokens.size() && stride == width, E_UNEXPECTED,
          "the state owner stage gave " + std::to_string(rows) + " rows of " + std::to_string(stride) + " logits for " +
              std::to_string(tokens.size()) + " tokens and a vocabulary of " + std::to_string(width));
  return {step_rows_, stride};
}

void GenerationPipelines::CommitAcceptedPrefix(uint32_t count) {
  UINT64 position = 0;
  ClearThreadError();
  CheckResult(state_->CommitAcceptedPrefix(count, &position), "the state owner stage",
              "IWinMLStatefulStage::CommitAcceptedPrefix");
}

void GenerationPipelines::RewindTo(uint64_t position) {
  ClearThreadError();
  CheckResult(state_->RewindTo(position), "the state owner stage", "IWinMLStatefulStage::RewindTo");
}

bool GenerationPipelines::WatchCancellation(IWinMLCancellationSource* source) noexcept {
  const auto stage = Query<IOwmlStageCancellation>(state_.Get());
  return stage && SUCCEEDED(stage->SetCancellationSource(source));
}

void GenerationPipelines::Withdraw() noexcept {
  for (Phase* phase : {prompt_.get(), decode_.get()}) {
    phase->output.ReleaseLogits();
    phase->input.Unbind();
    phase->output.Withdraw();
    while (phase->bound_outputs > 0) {
      const CallerOutput& output = phase->parts.caller_outputs[--phase->bound_outputs];
      output.port.stage->ResetOutput(output.port.index);
    }
  }
}

}  // namespace owml
