// One generation: prompt, then a token for each call, until a reason to end comes up.
// Owned by its stream; the session only watches whether it is running.
#pragma once

#include <WinMLTasks.h>
#include <WinMLTokenizer.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tasks/text_generation/constrained_choice.h"
#include "tasks/text_generation/generation_options.h"
#include "tasks/text_generation/sequence.h"
#include "tasks/text_generation/speculative_decoder.h"
#include "text/sampling/sampling_chain.h"

namespace owml {

// What is known at the end.
struct GenerationOutcome {
  std::wstring text;
  std::vector<uint32_t> tokens;
  WINML_TEXT_GENERATION_FINISH_REASON reason = WINML_TEXT_GENERATION_FINISH_REASON_ERROR;
  HRESULT error = S_OK;
  std::string sentence;  // of the error
  uint32_t prompt_tokens = 0;
  WINML_TEXT_GENERATION_SPECULATIVE_STATISTICS speculation = {};  // NONE when every token had a step of its own
};

// What is asked of a generation.
struct GenerationRequest {
  std::vector<uint32_t> prompt;
  bool continues = false;  // the prompt goes after what the sequence retains, else it starts a new one
  GenerationOptions options;
  IWinMLTokenConstraint* constraint = nullptr;       // null = none
  IWinMLCancellationSource* cancellation = nullptr;  // null = none
};

class Generation {
 public:
  // Nothing runs yet. Throws E_INVALIDARG for tokens that the pipelines cannot take, ERROR_INSUFFICIENT_BUFFER when
  // they do not fit, ERROR_NOT_SUPPORTED for a constraint on pipelines that sample, or as ConstrainedChoice.
  Generation(std::shared_ptr<Sequence> sequence, GenerationRequest request);

  struct Update {
    uint32_t token;
    std::wstring fragment;
  };

  // The next token, for which the model takes at most one step after the prompt; nothing when the generation has
  // ended, for whatever reason. Never throws.
  std::optional<Update> Next() noexcept;

  // Next has said that there is nothing more.
  bool completed() const { return completed_; }
  bool running() const { return in_next_; }

  // After completion.
  const GenerationOutcome& outcome() const { return outcome_; }

 private:
  std::optional<Update> Advance();
  std::optional<Update> Finish(WINML_TEXT_GENERATION_FINISH_REASON reason);
  void CheckPrompt() const;
  bool Canceled() const;
  // False when it was cancelled on the way.
  bool EvaluatePrompt();
  bool Ends(uint32_t token) const;
  // Not for the first token, whose logits the prompt gave.
  uint32_t StepAndChoose();
  uint32_t Choose();
  uint32_t ChooseAllowed(std::span<const float> logits);
  std::wstring Decode(uint32_t token);
  // The characters that no fragment has shown, up to the last one, because bytes are missing.
  std::wstring Rest(const Update& last) const;

  const std::shared_ptr<Sequence> sequence_;
  const std::vector<uint32_t> prompt_;
  const bool continues_;
  const GenerationOptions options_;
  const ComPtr<IWinMLCancellationSource> cancellation_;
  ComPtr<IWinMLTokenizerDecoder> decoder_;
  std::optional<SamplingChain> chain_;
  std::optional<ConstrainedChoice> constraint_;
  std::optional<SpeculativeDecoder> speculation_;
  std::vector<uint32_t> history_;  // prompt and answer, for drafts
  uint64_t capacity_ = 0;          // 0 = no limit known
  uint64_t retained_ = 0;          // tokens before the prompt
  bool prompt_done_ = false;
  bool in_next_ = false;
  bool completed_ = false;
  std::optional<WINML_TEXT_GENERATION_FINISH_REASON> reason_;  // settled, to be told by the next call
  GenerationOutcome outcome_;
};

}  // namespace owml
