// What every user of llama.cpp in a library needs first: its log in our sink, its failed assertions as exceptions, its
// error lines for our sentences. Called by the llama.cpp backend and by the quantizer.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

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

// Hands every piece of text that llama.cpp logs on this thread to `listener` while the object lives, beside the sink.
// What the listener throws is lost.
class LlamaLogListener {
 public:
  using Listener = std::function<void(std::string_view text)>;
  explicit LlamaLogListener(Listener listener);
  ~LlamaLogListener();
  LlamaLogListener(const LlamaLogListener&) = delete;
  LlamaLogListener& operator=(const LlamaLogListener&) = delete;

 private:
  const Listener* outer_;
  Listener listener_;
};

}  // namespace owml
