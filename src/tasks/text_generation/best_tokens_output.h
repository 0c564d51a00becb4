// The short way of a step: a pipeline's highest logits, where it can give them without the row and no more is read.
// Used by GenerationPipelines beside StepOutput.
#pragma once

#include <WinMLRuntime.h>
#include <openwinml/pipeline_best_tokens.h>

#include <span>
#include <string>
#include <vector>

#include "com/com_ptr.h"
#include "text/sampling/token_sampler.h"

namespace owml {

class BestTokensOutput {
 public:
  // `label` names the pipeline in sentences. Throws what the pipeline answers.
  BestTokensOutput(IWinMLPipeline* pipeline, std::string label);

  // What Run gives from now on; 0 = nothing. False, with the same effect, where the pipeline cannot give so many of a
  // row of `row_size` logits.
  bool Ask(uint32_t count, uint64_t row_size);
  bool asked() const { return !entries_.empty(); }

  // Runs the pipeline with its bound inputs. False, and nothing has run, when somebody publishes an output, which wants
  // the row then. Throws what the pipeline answers, E_UNEXPECTED for answers that are no such list.
  bool Run();

  // What the last Run gave, in ascending order of tokens.
  std::span<const TokenCandidate> Read() const { return candidates_; }

 private:
  const ComPtr<IOwmlPipelineBestTokens> pipeline_;  // null = it gives rows only
  const std::string label_;
  uint32_t most_ = 0;
  uint64_t row_size_ = 0;
  std::vector<OWML_TOKEN_LOGIT> entries_;
  std::vector<TokenCandidate> candidates_;
};

}  // namespace owml
