// A language model with its tokenizer and a text session over it, for generate and chat; counts and times of an answer.
// A client of the task interfaces like any other.
#pragma once

#include <WinMLTasks.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>
#include <winml/tasks/text_generation/TextGeneration.hpp>

#include "model_session.h"

namespace owml::cli {

struct SamplingOptions {
  uint32_t max_tokens = 512;
  float temperature = 0;
  uint32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float repetition_penalty = 1;
  uint32_t repetition_window = 0;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  uint64_t seed = 0;
};

struct GenerationStats {
  size_t prompt_tokens = 0;  // of the whole prompt
  size_t cached_tokens = 0;  // of them already in the context
  size_t generated_tokens = 0;
  size_t draft_tokens = 0;
  size_t accepted_drafts = 0;
  double prompt_seconds = 0;  // until the first piece of the answer was there
  double generation_seconds = 0;
  const char* finish = "stop";  // "stop", "length", "context", "cancelled"
};

// Splits the time of an answer at its first piece.
class AnswerClock {
 public:
  void Piece() {
    if (first_ == Clock::time_point()) first_ = Clock::now();
  }
  void Stop(GenerationStats* stats) {
    Piece();
    stats->prompt_seconds = std::chrono::duration<double>(first_ - start_).count();
    stats->generation_seconds = std::chrono::duration<double>(Clock::now() - first_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point first_;
};

class TextSession {
 public:
  // `lookup` decodes speculatively. Throws Failure.
  TextSession(const std::string& model_path, const StageSettings& settings, const SamplingOptions& sampling,
              bool lookup);
  ~TextSession();
  TextSession(const TextSession&) = delete;
  TextSession& operator=(const TextSession&) = delete;

  const ModelSession& model() const { return model_; }
  IWinMLTokenizer* tokenizer() const { return tokenizer_.Get(); }
  IWinMLTasks* tasks() const { return text_.tasks.Get(); }
  IWinMLTextGenerationSession* session() const { return text_.session.Get(); }
  IWinMLTextGenerationOptions* options() const { return text_.options.Get(); }

  std::vector<uint32_t> Encode(const std::string& text) const;

  // Makes the session usable again after an answer that failed.
  void ResetIfNeeded() const;

  uint64_t capacity() const;  // 0 = no known limit
  uint64_t position() const;

 private:
  ModelSession model_;
  ComPtr<IWinMLTokenizer> tokenizer_;
  winml::tasks::text_generation::TextGeneration text_;
};

// Throws the error of a failed generation; fills in drafts and the finish reason of the others.
void ReadTextResult(IWinMLTextGenerationResult* result, GenerationStats* stats);

// Throws Failure with both numbers for ERROR_INSUFFICIENT_BUFFER, else as Check.
void CheckStart(HRESULT result, size_t prompt_tokens, uint64_t capacity, const std::string& what);

// Of this process, now.
uint64_t ResidentBytes();

}  // namespace owml::cli
