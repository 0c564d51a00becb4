// What a language model is asked and answers, and the queue between the thread that makes an answer and the one that
// reads it. Part of openwinml/language_model.hpp.
#ifndef OPENWINML_LANGUAGE_MODEL_RESPONSE_QUEUE_HPP_
#define OPENWINML_LANGUAGE_MODEL_RESPONSE_QUEUE_HPP_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace openwinml {

/// Sampling and limits; each default leaves its step out.
struct LanguageModelOptions {
  float Temperature = 0;  // 0 = always the likeliest token
  float TopP = 1;         // 0 < p <= 1
  std::uint32_t TopK = 0;
  std::uint32_t MaxTokens = 512;
  float RepetitionPenalty = 1;
  std::uint64_t Seed = 0;  // 0 = another one each time
};

struct LanguageModelMessage {
  std::string role;
  std::string text;
};

enum class LanguageModelResponseStatus {
  kComplete,
  kMaxTokens,    // MaxTokens were generated
  kContextFull,  // the model has no room for more
  kCanceled,     // stopped, suspended or dropped
};

struct LanguageModelResponse {
  std::string text;
  LanguageModelResponseStatus status = LanguageModelResponseStatus::kComplete;
  std::uint32_t promptTokens = 0;
  std::uint32_t cachedPromptTokens = 0;  // of them, kept from the answer before
  std::uint32_t completionTokens = 0;
};

namespace detail {

class ResponseQueue {
 public:
  static constexpr std::size_t kBounded = 256;  // pieces that wait to be read, until the model waits for the reader
  static constexpr std::size_t kNone = 0;       // only the whole answer is wanted

  explicit ResponseQueue(std::size_t bound) : bound_(bound) {}

  // The maker's side. False when nobody reads any more.
  bool Push(std::string piece) {
    std::unique_lock lock(mutex_);
    if (bound_ == kNone) return !closing_;
    room_.wait(lock, [&] { return abandoned_ || closing_ || pieces_.size() < bound_; });
    if (abandoned_ || closing_) return false;
    pieces_.push_back(std::move(piece));
    Wake(lock);
    return true;
  }
  void Finish(LanguageModelResponse response) {
    std::unique_lock lock(mutex_);
    response_ = std::move(response);
    done_ = true;
    whole_.set_value(response_);
    Wake(lock);
  }
  void Fail(std::exception_ptr error) {
    std::unique_lock lock(mutex_);
    error_ = std::move(error);
    done_ = true;
    whole_.set_exception(error_);
    Wake(lock);
  }
  // The model is being suspended: do not wait for the reader.
  void Hurry() {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    room_.notify_all();
  }
  bool abandoned() const {
    const std::lock_guard lock(mutex_);
    return abandoned_;
  }

  // The reader's side.
  std::future<LanguageModelResponse> Whole() { return whole_.get_future(); }  // once
  std::optional<std::string> Pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return done_ || !pieces_.empty(); });
    if (pieces_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return std::nullopt;
    }
    std::string piece = std::move(pieces_.front());
    pieces_.pop_front();
    room_.notify_all();
    return piece;
  }
  bool HasPiece() const {
    const std::lock_guard lock(mutex_);
    return done_ || !pieces_.empty();
  }
  // Calls `resume` once when there is something; false when there is already.
  bool Await(std::function<void()> resume) {
    const std::lock_guard lock(mutex_);
    if (done_ || !pieces_.empty()) return false;
    resume_ = std::move(resume);
    return true;
  }
  void Abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    resume_ = nullptr;
    room_.notify_all();
  }
  LanguageModelResponse response() const {
    const std::lock_guard lock(mutex_);
    return response_;
  }

 private:
  void Wake(std::unique_lock<std::mutex>& lock) {
    filled_.notify_all();
    std::function<void()> resume = std::exchange(resume_, nullptr);
    lock.unlock();
    if (resume) resume();
  }

  const std::size_t bound_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable room_;
  std::deque<std::string> pieces_;
  std::function<void()> resume_;
  LanguageModelResponse response_;
  std::promise<LanguageModelResponse> whole_;
  std::exception_ptr error_;
  bool done_ = false;
  bool abandoned_ = false;
  bool closing_ = false;
};

}  // namespace detail
}  // namespace openwinml

#endif  // OPENWINML_LANGUAGE_MODEL_RESPONSE_QUEUE_HPP_
