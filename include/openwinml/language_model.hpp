// A language model in a few lines: a GGUF file, a conversation, an answer, as a whole, as a range or as a coroutine.
// For C++ applications; header only, a client of the public interfaces. Link the Runtime, Tokenizer and Tasks
// libraries.
#ifndef OPENWINML_LANGUAGE_MODEL_HPP_
#define OPENWINML_LANGUAGE_MODEL_HPP_

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>
#if defined(__cpp_impl_coroutine)
#include <coroutine>
#endif

#include "language_model/engine.hpp"
#include "language_model/response_queue.hpp"

namespace openwinml {

enum class LanguageModelAvailability {
  kReady,
  kNotFound,      // neither a file nor a model of that name in the cache
  kNotSupported,  // not a GGUF file
};

/// A conversation so far; the application keeps it.
class LanguageModelContext {
 public:
  LanguageModelContext& AddSystemMessage(std::string text) { return Add("system", std::move(text)); }
  LanguageModelContext& AddUserMessage(std::string text) { return Add("user", std::move(text)); }
  LanguageModelContext& AddAssistantMessage(std::string text) { return Add("assistant", std::move(text)); }

  const std::vector<LanguageModelMessage>& messages() const noexcept { return messages_; }

 private:
  LanguageModelContext& Add(std::string role, std::string text) {
    messages_.push_back({std::move(role), std::move(text)});
    return *this;
  }

  std::vector<LanguageModelMessage> messages_;
};

/// An answer while it is made. A range of pieces of text, or `co_await stream.Next()`; read it on one thread. Dropped
/// before its end, it ends the generation.
class LanguageModelResponseStream {
 public:
  explicit LanguageModelResponseStream(std::shared_ptr<detail::ResponseQueue> queue) : queue_(std::move(queue)) {}
  LanguageModelResponseStream(LanguageModelResponseStream&&) noexcept = default;
  LanguageModelResponseStream& operator=(LanguageModelResponseStream&& other) noexcept {
    if (queue_) queue_->Abandon();
    queue_ = std::move(other.queue_);
    return *this;
  }
  ~LanguageModelResponseStream() {
    if (queue_) queue_->Abandon();
  }

  /// The next piece, for which it waits; nothing at the end. Throws LanguageModelError.
  std::optional<std::string> Read() { return queue_->Pop(); }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string*;
    using reference = const std::string&;

    iterator() = default;
    explicit iterator(LanguageModelResponseStream* stream) : stream_(stream) { ++*this; }
    reference operator*() const { return *piece_; }
    pointer operator->() const { return &*piece_; }
    iterator& operator++() {
      piece_ = stream_->Read();
      if (!piece_) stream_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const iterator& other) const { return stream_ == other.stream_; }

   private:
    LanguageModelResponseStream* stream_ = nullptr;  // null = the end
    std::optional<std::string> piece_;
  };
  iterator begin() { return iterator(this); }
  iterator end() { return {}; }

#if defined(__cpp_impl_coroutine)
  /// For `while (auto piece = co_await stream.Next())`. The coroutine goes on where the answer is made, on the model's
  /// own thread, unless a piece is already there; it must not wait for the model there.
  auto Next() {
    struct Awaiter {
      detail::ResponseQueue& queue;
      bool await_ready() const { return queue.HasPiece(); }
      bool await_suspend(std::coroutine_handle<> handle) {
        return queue.Await([handle] { handle.resume(); });
      }
      std::optional<std::string> await_resume() { return queue.Pop(); }
    };
    return Awaiter{*queue_};
  }
#endif

  /// What is known at the end; waits for it and skips what was not read. Throws LanguageModelError.
  LanguageModelResponse Response() {
    while (queue_->Pop()) {
    }
    return queue_->response();
  }

 private:
  std::shared_ptr<detail::ResponseQueue> queue_;
};

/// A loaded model. It works on a thread of its own, one answer after the other; every method may be called from any
/// thread but from a coroutine that runs on it.
class LanguageModel {
 public:
  /// From 0 to 1, on the thread that loads.
  using Progress = std::function<void(double)>;

  /// `model` is a path, or a name in the model cache: $OWML_CACHE_DIR/models, with or without ".gguf".
  static LanguageModelAvailability CheckAvailability(const std::string& model) {
    const auto path = detail::FindModel(model);
    if (!path) return LanguageModelAvailability::kNotFound;
    return detail::IsGguf(*path) ? LanguageModelAvailability::kReady : LanguageModelAvailability::kNotSupported;
  }

  /// The future throws LanguageModelError; ERROR_CANCELLED when it was stopped on the way.
  static std::future<LanguageModel> CreateAsync(std::string model, Progress progress = {}, std::stop_token stop = {}) {
    return std::async(std::launch::async, [model = std::move(model), progress = std::move(progress), stop] {
      return LanguageModel(detail::Worker::Start(model, progress, stop));
    });
  }

  std::future<LanguageModelResponse> GenerateResponseAsync(const LanguageModelContext& context,
                                                           const LanguageModelOptions& options = {},
                                                           std::stop_token stop = {}) {
    return Ask(context, options, std::move(stop), detail::ResponseQueue::kNone)->Whole();
  }
  std::future<LanguageModelResponse> GenerateResponseAsync(const std::string& prompt,
                                                           const LanguageModelOptions& options = {},
                                                           std::stop_token stop = {}) {
    return GenerateResponseAsync(LanguageModelContext().AddUserMessage(prompt), options, std::move(stop));
  }

  LanguageModelResponseStream GenerateResponseStreamAsync(const LanguageModelContext& context,
                                                          const LanguageModelOptions& options = {},
                                                          std::stop_token stop = {}) {
    return LanguageModelResponseStream(Ask(context, options, std::move(stop), detail::ResponseQueue::kBounded));
  }

  /// Ends open answers, which then tell kCanceled. With `release` the sessions and the pipeline with its working memory
  /// go as well. Further answers throw E_NOT_VALID_STATE until Resume.
  void Suspend(bool release = false) { worker_->Suspend(release); }

  /// Makes again what was released. A conversation goes on: its context is all there is to it.
  void Resume() { worker_->Resume(); }

 private:
  explicit LanguageModel(std::shared_ptr<detail::Worker> worker) : worker_(std::move(worker)) {}

  std::shared_ptr<detail::ResponseQueue> Ask(const LanguageModelContext& context, const LanguageModelOptions& options,
                                             std::stop_token stop, std::size_t bound) {
    auto queue = std::make_shared<detail::ResponseQueue>(bound);
    worker_->Generate(context.messages(), options, std::move(stop), queue);
    return queue;
  }

  std::shared_ptr<detail::Worker> worker_;
};

}  // namespace openwinml

#endif  // OPENWINML_LANGUAGE_MODEL_HPP_
