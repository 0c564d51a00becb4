// A language model as a stage: feeds tokens and reads the last row of logits, without tokenizer, sampling or tasks.
// Used by bench, which measures runs.
#pragma once

#include <cstdint>
#include <vector>

#include "model_session.h"

namespace owml::cli {

class LanguageSession {
 public:
  LanguageSession(const std::string& model_path, const StageSettings& settings);

  // Makes the context hold exactly `tokens`: keeps the common prefix, evaluates the rest; at least the last token is
  // evaluated, all in one run. Throws Failure, with both numbers, when they do not fit.
  void Prefill(const std::vector<uint32_t>& tokens);
  void Append(uint32_t token);
  std::vector<float> Logits() const;
  void Reset();

  const ModelSession& model() const { return model_; }

 private:
  // Drops what does not belong to `tokens` from the context; at least the last token stays to be evaluated. Throws as
  // Prefill does. Returns how many are there already.
  size_t KeepPrefix(const std::vector<uint32_t>& tokens);
  void Evaluate(const uint32_t* tokens, size_t count);

  ModelSession model_;
  DType token_type_ = DType::kInt32;
  size_t token_rank_ = 2;
  uint64_t capacity_ = 0;  // 0 = no known limit
  std::vector<uint32_t> context_;
};

}  // namespace owml::cli
