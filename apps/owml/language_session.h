// A language model with its tokenizer over the public API: feeds tokens, reads the last row of logits, streams text.
// Used by generate, chat and bench.
#pragma once

#include <WinMLConversation.h>
#include <WinMLTokenizer.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model_session.h"
#include "sampler.h"

namespace owml::cli {

struct Message {
  std::string role;
  std::string content;
};

struct GenerationStats {
  size_t prompt_tokens = 0;     // of the whole prompt
  size_t evaluated_tokens = 0;  // of them not already in the context
  size_t generated_tokens = 0;
  size_t decode_steps = 0;    // runs of one token; the first token comes from the prompt's run
  double prompt_seconds = 0;  // until the first token was chosen
  double generation_seconds = 0;
  const char* finish = "stop";  // "stop", "length", "context", "cancelled"
};

class LanguageSession {
 public:
  LanguageSession(const std::string& model_path, const StageSettings& settings);

  std::vector<uint32_t> Encode(const std::string& text) const;
  // Throws Failure when the model carries no chat template.
  void RequireChatTemplate() const;
  std::vector<uint32_t> EncodeConversation(const std::vector<Message>& messages) const;

  // Makes the context hold exactly `tokens`: keeps the common prefix, evaluates the rest; at least the last token is
  // evaluated, all in one run. Returns how many were evaluated. Throws Failure, with both numbers, when they do not
  // fit.
  size_t Prefill(const std::vector<uint32_t>& tokens);
  void Append(uint32_t token);
  std::vector<float> Logits() const;
  void Reset();

  // Generates after `prompt`. `emit` gets whole characters; `cancelled` is asked before every token, and in a long
  // prompt every kPromptStep tokens.
  GenerationStats Generate(const std::vector<uint32_t>& prompt, Sampler& sampler, uint32_t max_tokens,
                           const std::function<void(const std::string&)>& emit, const std::function<bool()>& cancelled);

  uint64_t capacity() const { return capacity_; }
  size_t position() const { return context_.size(); }
  const ModelSession& model() const { return model_; }

  static constexpr size_t kPromptStep = 256;

 private:
  // Drops what does not belong to `tokens` from the context; at least the last token stays to be evaluated. Throws as
  // Prefill does. Returns how many are there already.
  size_t KeepPrefix(const std::vector<uint32_t>& tokens);
  void Evaluate(const uint32_t* tokens, size_t count);
  bool IsEndToken(uint32_t token) const;

  ModelSession model_;
  ComPtr<IWinMLTokenizer> tokenizer_;
  ComPtr<IWinMLConversationFormatter> formatter_;
  std::vector<uint32_t> end_tokens_;
  DType token_type_ = DType::kInt32;
  size_t token_rank_ = 2;
  uint64_t capacity_ = 0;  // 0 = no known limit
  std::vector<uint32_t> context_;
};

}  // namespace owml::cli
