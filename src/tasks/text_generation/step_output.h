// Where a pipeline leaves logits or sampled tokens: publishing it, and reading its last row after a run.
// Used by GenerationPipelines.
#pragma once

#include <WinMLRuntime.h>
#include <WinMLTextGenerationTask.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "com/com_ptr.h"
#include "tasks/text_generation/tensor_read.h"

namespace owml {

class StepOutput {
 public:
  // Throws E_INVALIDARG when the stage tells no schema or has no such output of this kind, or what it answers. `label`
  // names the output in sentences.
  StepOutput(IWinMLStage* stage, UINT32 index, WINML_TEXT_GENERATION_OUTPUT_KIND kind, std::string label);

  WINML_TEXT_GENERATION_OUTPUT_KIND kind() const { return kind_; }

  // Logits a row; 0 = not known before a run.
  uint64_t vocabulary_size() const { return vocabulary_size_; }

  // Asks for the output unless the application has bound or requested it.
  void Publish();

  // Takes back what Publish asked for.
  void Withdraw() noexcept;

  // The logits of the last position, valid until the next call of ReadLogits or ReleaseLogits.
  std::span<const float> ReadLogits();
  void ReleaseLogits() noexcept { row_.reset(); }

  // The token of the last position.
  uint32_t ReadToken();

 private:
  TensorRead Read() const;

  const ComPtr<IWinMLStage> stage_;
  const UINT32 index_;
  const WINML_TEXT_GENERATION_OUTPUT_KIND kind_;
  const std::string label_;
  uint64_t vocabulary_size_ = 0;
  bool requested_ = false;
  std::optional<TensorRead> row_;
  std::vector<float> converted_;  // where the tensor's own bytes cannot be used as they are
};

}  // namespace owml
