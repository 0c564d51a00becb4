// What a session keeps: its pipelines, the tokens that they hold, and which generation is running.
// Shared by the session and its streams, so that either may be released first.
#pragma once

#include <WinMLTextGenerationTask.h>

#include <memory>
#include <vector>

#include "com/thread_binding.h"
#include "tasks/text_generation/composition.h"
#include "tasks/text_generation/drafting.h"
#include "tasks/text_generation/generation_pipelines.h"
#include "tasks/text_generation/pipeline_claim.h"

namespace owml {

class Generation;

class Sequence {
 public:
  // Claims the pipelines and binds the caller's outputs. Throws ERROR_BUSY, what the check of the composition throws,
  // or as Drafting.
  Sequence(const Composition& composition, std::vector<uint32_t> eos_tokens);

  const ThreadBinding& thread() const { return thread_; }
  IWinMLTokenizer* tokenizer() const { return tokenizer_.Get(); }
  const std::vector<uint32_t>& eos_tokens() const { return eos_tokens_; }

  WINML_TEXT_GENERATION_SESSION_STATE State() const;
  WINML_TEXT_GENERATION_SEQUENCE_STATE Disclosure();
  WINML_TEXT_GENERATION_CAPABILITIES Capabilities();

  // Follows what happened to the stage: after RewindTo the first tokens are left, after a cancelled run perhaps none.
  void Synchronize();

  // Tokens that the model holds, in order.
  const std::vector<uint32_t>& Retained();

  // Throws E_NOT_VALID_STATE when closed, when a stream is open, or when a reset is needed.
  void RequireReady() const;

  // Throws E_NOT_VALID_STATE when closed.
  GenerationPipelines& pipelines() const;

  // The one that is running until it completes or its last owner is gone.
  void Start(const std::shared_ptr<Generation>& generation) { running_ = generation; }

  // Empties the model's sequence. A failure leaves it to be reset.
  void Forget();

  // Runs a part of the prompt, or the token chosen last; it is retained afterwards. On failure call Fail.
  void RunPrompt(std::span<const uint32_t> tokens);
  void RunToken(uint32_t token);

  // A step over several tokens, of which Commit retains the first ones. On failure call Fail.
  LogitRowsView StepAll(std::span<const uint32_t> tokens);
  void Commit(std::span<const uint32_t> tokens);

  // Gives up the last tokens; refused, they stay.
  void TakeBack(size_t count) noexcept;

  // Null without a speculative method.
  Drafting* drafting() const { return drafting_.get(); }

  // What the model holds is not known any more.
  void Fail() noexcept;

  // Throws E_NOT_VALID_STATE while a stream is open.
  void Reset();
  void Close();

 private:
  bool active() const;
  void RequireOpen() const;
  const ThreadBinding thread_;
  const ComPtr<IWinMLTokenizer> tokenizer_;
  const std::vector<uint32_t> eos_tokens_;
  std::vector<PipelineClaim> claims_;
  std::unique_ptr<GenerationPipelines> pipelines_;  // null = closed
  std::unique_ptr<Drafting> drafting_;              // null = one token a step
  std::weak_ptr<Generation> running_;
  std::vector<uint32_t> retained_;
  uint64_t evaluated_ = 0;  // since the sequence began
  bool failed_ = false;
};

}  // namespace owml
