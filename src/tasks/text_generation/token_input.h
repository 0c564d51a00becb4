// Where token ids go into a pipeline: the form that the stage asks for, and the tensors made for it.
// Used by GenerationPipelines for each prompt and each token.
#pragma once

#include <WinMLRuntime.h>
#include <WinMLTensorFactory.h>

#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "com/com_ptr.h"

namespace owml {

class TokenInput {
 public:
  // Throws E_INVALIDARG when the stage tells no schema, takes no token ids at `index`, or `target` makes no tensors; or
  // what they answer. `label` names the input in sentences.
  TokenInput(IWinMLStage* stage, UINT32 index, IWinMLExecutionTarget* target, std::string label);

  // Tokens that each run takes; 0 = any number.
  uint64_t fixed_length() const { return fixed_length_; }

  // Binds a new tensor of these tokens, [n] or [1, n], until the next Bind or Unbind.
  void Bind(std::span<const uint32_t> tokens);

  // Gives the stage's input free again.
  void Unbind() noexcept;

 private:
  const ComPtr<IWinMLStage> stage_;
  const UINT32 index_;
  const ComPtr<IWinMLRawTensorFactory> factory_;
  const std::string label_;
  DType dtype_ = DType::kUndefined;
  uint32_t rank_ = 0;
  uint64_t fixed_length_ = 0;
  bool bound_ = false;
  std::vector<int64_t> wide_;
};

}  // namespace owml
