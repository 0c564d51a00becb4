// Runs the pipelines of a checked composition: a prompt, then one token a step, and reads what came out.
// One class for all profiles: a unified pipeline, or a prefill and a decode pipeline with tokens bound or fed back.
#pragma once

#include <WinMLTasks.h>

#include <memory>
#include <span>
#include <vector>

#include "tasks/text_generation/best_tokens_output.h"
#include "tasks/text_generation/composition.h"
#include "tasks/text_generation/step_output.h"
#include "tasks/text_generation/token_input.h"

namespace owml {

// Logits of several positions, until the next step.
struct LogitRowsView {
  std::span<const float> logits;
  size_t width = 0;

  std::span<const float> Row(size_t index) const { return logits.subspan(index * width, width); }
};

class GenerationPipelines {
 public:
  // Looks at the stages only. Throws E_INVALIDARG for endpoints that are not what they should be.
  explicit GenerationPipelines(const Composition& composition);
  ~GenerationPipelines();

  WINML_TEXT_GENERATION_EXECUTION_PROFILE profile() const { return profile_; }
  WINML_TEXT_GENERATION_OUTPUT_KIND output_kind() const { return decode_->output.kind(); }
  bool gives_logits() const {
    return prompt_->output.kind() == WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS &&
           decode_->output.kind() == WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS;
  }
  bool unified() const { return profile_ == WINML_TEXT_GENERATION_EXECUTION_PROFILE_SINGLE_PIPELINE; }

  // Token ids below this can be prompted; 0 = any that fits 31 bits.
  uint64_t vocabulary_size() const { return prompt_->output.vocabulary_size(); }

  // Tokens a run of the prompt must take; 0 = any number.
  uint64_t prompt_run_length() const { return prompt_->input.fixed_length(); }

  // Positions for prompt and answer; 0 = no known limit. The logical capacity if one is set, else the stage's.
  uint64_t Capacity() const;

  // Throws E_INVALIDARG when the logical capacity is more than the stage has.
  void CheckCapacity() const;

  // Tokens that the state owner of a unified pipeline holds.
  uint64_t Position() const;

  // Binds the caller's outputs.
  void BindCallerOutputs();

  // Asks for what the next runs are to give. `deciding` logits, the highest, are all that is read of a row, 0 = more
  // is: then, and where the pipeline cannot give them alone, the outputs that nobody publishes yet.
  void Publish(uint32_t deciding);

  // Back to an empty sequence.
  void Forget();

  // The next part of a prompt. Afterwards ReadToken, ReadLogits or ReadBest give what follows it.
  void RunPrompt(std::span<const uint32_t> tokens);

  // The token chosen last.
  void RunToken(uint32_t token);

  // Of the last run.
  WINML_TEXT_GENERATION_OUTPUT_KIND last_kind() const { return last_->output.kind(); }
  std::span<const float> ReadLogits() { return last_->output.ReadLogits(); }
  void ReleaseLogits() noexcept { last_->output.ReleaseLogits(); }
  uint32_t ReadToken() { return last_->output.ReadToken(); }
  // The run gave its highest logits, as many as were asked for, instead of a row of vocabulary_size() logits.
  bool gave_best() const { return last_->best.asked(); }
  std::span<const TokenCandidate> ReadBest() const { return last_->best.Read(); }

  // The logits after each of several tokens in one step of a unified pipeline. They count as consumed when
  // CommitAcceptedPrefix says how many of them stay.
  LogitRowsView StepAllPositions(std::span<const uint32_t> tokens);
  void CommitAcceptedPrefix(uint32_t count);

  // Keeps the first tokens of a unified pipeline.
  void RewindTo(uint64_t position);

  // Lets runs of a unified pipeline end with ERROR_CANCELLED when the source is cancelled; null = no more. False where
  // the stage cannot.
  bool WatchCancellation(IWinMLCancellationSource* source) noexcept;

  // Takes back bindings and requests; errors are of no use any more.
  void Withdraw() noexcept;

 private:
  struct Phase {
    Phase(const PhaseParts& parts, const char* name, IWinMLExecutionTarget* token_target);

    void Run(std::span<const uint32_t> tokens);

    PhaseParts parts;
    std::string name;
    TokenInput input;
    StepOutput output;
    BestTokensOutput best;
    size_t bound_outputs = 0;  // of parts.caller_outputs
  };

  uint64_t StageCapacity() const;

  const WINML_TEXT_GENERATION_EXECUTION_PROFILE profile_;
  const UINT64 logical_capacity_;
  const std::shared_ptr<Phase> prompt_;
  const std::shared_ptr<Phase> decode_;  // prompt_ when unified
  ComPtr<IWinMLStatefulStage> state_;    // unified only
  Phase* last_;
  std::vector<INT32> step_tokens_;
  std::vector<float> step_rows_;
  bool fed_back_ = false;  // the decode pipeline already holds the last token
};

}  // namespace owml
