// What every user of llama.cpp in a library needs first: its log in our sink, its failed assertions as exceptions, its
// error lines for our sentences. Called by the llama.cpp backend and by the tokenizer.
#pragma once

#include <stdexcept>
#include <string>

namespace owml {

// A failed assertion of llama.cpp or ggml. Derives from std::runtime_error, so that llama.cpp's own catch blocks take
// it and report a failed load like any other. Whatever was being worked on is damaged and must only be destroyed.
class LlamaAssertion : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Idempotent and thread-safe. Several libraries of a process may each install theirs: later ones pass messages on to
// earlier ones, so that a message reaches the sink once.
void InstallLlamaHooks();

// Collects the error lines that llama.cpp logs on this thread while the object lives; they then reach the caller as
// part of a sentence and the sink at debug level only.
class LlamaErrorLines {
 public:
  LlamaErrorLines();
  ~LlamaErrorLines();
  LlamaErrorLines(const LlamaErrorLines&) = delete;
  LlamaErrorLines& operator=(const LlamaErrorLines&) = delete;

  // The first collected line that says what went wrong, without the function name in front; empty when there is none.
  std::string Reason() const;

 private:
  std::string* outer_;
  std::string lines_;
};

}  // namespace owml
