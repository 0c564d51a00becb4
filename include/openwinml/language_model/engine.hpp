// The thread of a language model and what it keeps: runtime, model, pipeline, text session and chat session.
// Part of openwinml/language_model.hpp.
#ifndef OPENWINML_LANGUAGE_MODEL_ENGINE_HPP_
#define OPENWINML_LANGUAGE_MODEL_ENGINE_HPP_

#include <wrl/client.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../../winml/tasks/text_generation/TextGeneration.hpp"
#include "../error.h"
#include "../strings.hpp"
#include "response_queue.hpp"

namespace openwinml {

/// A failed call; the text is the library's sentence.
class LanguageModelError : public std::runtime_error {
 public:
  LanguageModelError(HRESULT code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  HRESULT code() const noexcept { return code_; }

 private:
  HRESULT code_;
};

namespace detail {

using Microsoft::WRL::ComPtr;

inline void Check(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return;
  const std::string sentence = LastErrorMessage();
  throw LanguageModelError(result, sentence.empty() ? std::string(what) + " failed" : sentence);
}

inline std::optional<std::filesystem::path> FindModel(const std::string& model) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto file = [&](const fs::path& path) { return fs::is_regular_file(path, ignored); };
  if (file(model)) return fs::path(model);
  fs::path cache;
  if (const char* folder = std::getenv("OWML_CACHE_DIR"); folder && *folder) {
    cache = folder;
  } else if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches && *caches) {
    cache = fs::path(caches) / "openwinml";
  } else if (const char* home = std::getenv("HOME"); home && *home) {
    cache = fs::path(home) / ".cache" / "openwinml";
  } else {
    return std::nullopt;
  }
  // A name, not a way out of the folder.
  if (model.empty() || fs::path(model).filename() != fs::path(model)) return std::nullopt;
  for (const std::string& name : {model, model + ".gguf"}) {
    if (file(cache / "models" / name)) return cache / "models" / name;
  }
  return std::nullopt;
}

inline bool IsGguf(const std::filesystem::path& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string(magic, sizeof magic) == "GGUF";
}

// Everything here happens on the model's thread.
class Engine {
 public:
  Engine(const std::filesystem::path& path, const std::function<void(double)>& progress, const std::stop_token& stop)
      : path_(ToWide(path.string())) {
    const auto step = [&](double done) {
      if (progress) progress(done);
      if (stop.stop_requested()) {
        throw LanguageModelError(HRESULT_FROM_WIN32(ERROR_CANCELLED), "loading the model was stopped");
      }
    };
    step(0);
    Check(WinMLCreateRuntime(__uuidof(IWinMLRuntime), reinterpret_cast<void**>(runtime_.GetAddressOf())),
          "WinMLCreateRuntime");
    Check(WinMLCreateTokenizerFromFile(path_.c_str(), tokenizer_.GetAddressOf()), "WinMLCreateTokenizerFromFile");
    step(0.2);
    Check(runtime_->LoadModelFromFile(path_.c_str(), nullptr, model_.GetAddressOf()), "LoadModelFromFile");
    step(0.5);
    Build();
    step(1);
  }

  ~Engine() { Release(); }

  void Build() {
    if (chat_) return;
    ComPtr<IWinMLExecutionTarget> cpu;
    ComPtr<IWinMLPipelineBuilder> builder;
    ComPtr<IWinMLStage> stage;
    ComPtr<IWinMLPipeline> pipeline;
    Check(runtime_->CreateCpuExecutionTarget(cpu.GetAddressOf()), "CreateCpuExecutionTarget");
    Check(runtime_->CreatePipelineBuilder(builder.GetAddressOf()), "CreatePipelineBuilder");
    Check(builder->AddModelStage(model_.Get(), cpu.Get(), L"language model", stage.GetAddressOf()), "AddModelStage");
    Check(builder->Build(pipeline.GetAddressOf()), "Build");
    winml::tasks::text_generation::TextGenerationArguments arguments;
    arguments.runtime = runtime_.Get();
    arguments.pipeline = pipeline.Get();
    arguments.tokenInput = {stage.Get(), 0};
    arguments.output = {stage.Get(), 0, WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS};
    arguments.stateOwnerStage = stage.Get();
    arguments.tokenTarget = cpu.Get();
    arguments.tokenizer = tokenizer_.Get();
    Check(winml::tasks::text_generation::BuildTextGeneration(arguments, text_), "BuildTextGeneration");
    Check(winml::tasks::GetTextGenerationFactory(text_.tasks.Get(), factory_.ReleaseAndGetAddressOf()),
          "GetTextGenerationFactory");
    ComPtr<IWinMLChatCompletionTask> task;
    Check(winml::tasks::CreateChatCompletionTask(text_.tasks.Get(), tokenizer_.Get(), task.GetAddressOf()),
          "CreateChatCompletionTask");
    Check(task->CreateSession(text_.session.Get(), chat_.GetAddressOf()), "CreateSession");
  }

  // Sessions and pipeline with its working memory; model and tokenizer stay.
  void Release() noexcept {
    if (chat_) chat_->Close();
    chat_.Reset();
    if (text_.session) text_.session->Close();
    factory_.Reset();
    text_ = {};
  }

  ComPtr<IWinMLCancellationSource> NewSource() {
    ComPtr<IWinMLCancellationSource> source;
    Check(text_.tasks->CreateCancellationSource(source.GetAddressOf()), "CreateCancellationSource");
    return source;
  }

  LanguageModelResponse Generate(const std::vector<LanguageModelMessage>& messages, const LanguageModelOptions& options,
                                 IWinMLCancellationSource* source, ResponseQueue& queue) {
    // A generation that failed leaves the session to be reset.
    auto state = WINML_TEXT_GENERATION_SESSION_STATE_EMPTY;
    Check(text_.session->GetState(&state), "GetState");
    if (state == WINML_TEXT_GENERATION_SESSION_STATE_RESET_REQUIRED) Check(text_.session->Reset(), "Reset");
    const ComPtr<IWinMLTextGenerationOptions> wanted = OptionsOf(options);
    std::vector<std::wstring> strings;
    strings.reserve(2 * messages.size());  // their addresses are in the request
    std::vector<WINML_CONVERSATION_MESSAGE> turns;
    for (const LanguageModelMessage& message : messages) {
      WINML_CONVERSATION_MESSAGE turn = {};
      turn.role = strings.emplace_back(ToWide(message.role)).c_str();
      turn.content = strings.emplace_back(ToWide(message.text)).c_str();
      turns.push_back(turn);
    }
    WINML_CONVERSATION_REQUEST request = {};
    request.messageCount = static_cast<UINT32>(turns.size());
    request.messages = turns.data();
    request.addGenerationPrompt = TRUE;
    ComPtr<IWinMLChatCompletionPullStream> stream;
    Check(chat_->Generate(&request, wanted.Get(), source, stream.GetAddressOf()), "Generate");
    while (true) {
      auto status = WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED;
      ComPtr<IWinMLConversationOutputEvent> event;
      Check(stream->ReadNext(&status, event.GetAddressOf()), "ReadNext");
      if (status == WINML_CHAT_COMPLETION_READ_STATUS_COMPLETED) break;
      auto type = WINML_CONVERSATION_OUTPUT_EVENT_TYPE_COMPLETED;
      LPCWSTR text = nullptr;
      Check(event->GetType(&type), "GetType");
      if (type != WINML_CONVERSATION_OUTPUT_EVENT_TYPE_CONTENT_DELTA) continue;
      Check(event->GetText(&text), "GetText");
      if (text && !queue.Push(ToUtf8(text))) source->Cancel();
    }
    ComPtr<IWinMLChatCompletionResult> result;
    Check(stream->GetResult(result.GetAddressOf()), "GetResult");
    LanguageModelResponse response = ResponseOf(result.Get());
    Check(stream->Close(), "Close");
    return response;
  }

 private:
  ComPtr<IWinMLTextGenerationOptions> OptionsOf(const LanguageModelOptions& options) {
    WINML_TEXT_GENERATION_OPTIONS values = winml::tasks::MakeTextGenerationOptions(options.MaxTokens);
    values.presentFields = static_cast<WINML_TEXT_GENERATION_OPTION_FIELDS>(
        values.presentFields | WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE |
        WINML_TEXT_GENERATION_OPTION_FIELD_TOP_P | WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K |
        WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY | WINML_TEXT_GENERATION_OPTION_FIELD_SEED);
    values.temperature = options.Temperature;
    values.topP = options.TopP;
    values.topK = options.TopK;
    values.repetitionPenalty = options.RepetitionPenalty;
    values.seed = options.Seed;
    ComPtr<IWinMLTextGenerationOptions> made;
    Check(factory_->CreateTextGenerationOptions(&values, 0, nullptr, made.GetAddressOf()),
          "CreateTextGenerationOptions");
    return made;
  }

  static LanguageModelResponse ResponseOf(IWinMLChatCompletionResult* result) {
    LanguageModelResponse response;
    HRESULT error = S_OK;
    Check(result->GetErrorCode(&error), "GetErrorCode");
    Check(error, "the generation");
    LPCWSTR content = nullptr;
    auto reason = WINML_CHAT_COMPLETION_FINISH_REASON_ERROR;
    WINML_CHAT_COMPLETION_PROMPT_CACHE cache = {};
    UINT32 prompt = 0;
    UINT32 completion = 0;
    Check(result->GetContent(&content), "GetContent");
    Check(result->GetFinishReason(&reason), "GetFinishReason");
    Check(result->GetPromptCacheUse(&cache), "GetPromptCacheUse");
    Check(result->GetTokenCounts(&prompt, &completion), "GetTokenCounts");
    if (content) response.text = ToUtf8(content);
    response.promptTokens = prompt;
    response.cachedPromptTokens = cache.cachedPromptTokenCount;
    response.completionTokens = completion;
    if (reason == WINML_CHAT_COMPLETION_FINISH_REASON_MAX_TOKENS) {
      response.status = LanguageModelResponseStatus::kMaxTokens;
    } else if (reason == WINML_CHAT_COMPLETION_FINISH_REASON_SEQUENCE_CAPACITY) {
      response.status = LanguageModelResponseStatus::kContextFull;
    } else if (reason == WINML_CHAT_COMPLETION_FINISH_REASON_CANCELED) {
      response.status = LanguageModelResponseStatus::kCanceled;
    }
    return response;
  }

  const std::wstring path_;
  ComPtr<IWinMLRuntime> runtime_;
  ComPtr<IWinMLTokenizer> tokenizer_;
  ComPtr<IWinMLModel> model_;
  winml::tasks::text_generation::TextGeneration text_;
  ComPtr<IWinMLTextGenerationTaskFactory> factory_;
  ComPtr<IWinMLChatCompletionSession> chat_;
};

// Runs jobs one after the other on a thread of its own, because sessions belong to one.
class Worker {
 public:
  static std::shared_ptr<Worker> Start(const std::string& model, const std::function<void(double)>& progress,
                                       const std::stop_token& stop) {
    const auto path = FindModel(model);
    if (!path) {
      throw LanguageModelError(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                               "'" + model + "' is neither a file nor the name of a model in the cache");
    }
    auto worker = std::make_shared<Worker>();
    worker->Wait([&] { worker->engine_ = std::make_unique<Engine>(*path, progress, stop); });
    return worker;
  }

  Worker() : thread_([this] { Run(); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Open answers end with it.
  ~Worker() {
    EndOpenAnswers();
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back([this] { engine_.reset(); });
      closing_ = true;
    }
    ready_.notify_all();
    thread_.join();
  }

  void Generate(std::vector<LanguageModelMessage> messages, LanguageModelOptions options, std::stop_token stop,
                std::shared_ptr<ResponseQueue> queue) {
    {
      const std::lock_guard lock(mutex_);
      if (suspended_) throw LanguageModelError(E_NOT_VALID_STATE, "the language model is suspended; call Resume first");
      open_.push_back(queue);
      jobs_.push_back([this, messages = std::move(messages), options, stop = std::move(stop), queue] {
        Answer(messages, options, stop, *queue);
      });
    }
    ready_.notify_all();
  }

  void Suspend(bool release) {
    {
      const std::lock_guard lock(mutex_);
      suspended_ = true;
    }
    EndOpenAnswers();
    // Behind the answers, which end at once.
    Wait([&] {
      if (release) engine_->Release();
    });
  }

  void Resume() {
    Wait([&] { engine_->Build(); });
    const std::lock_guard lock(mutex_);
    suspended_ = false;
  }

 private:
  void Run() {
    while (true) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
  }

  // Runs `work` on the thread and gives its exception back.
  void Wait(const std::function<void()>& work) {
    std::promise<void> done;
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back([&] {
        try {
          work();
          done.set_value();
        } catch (...) {
          done.set_exception(std::current_exception());
        }
      });
    }
    ready_.notify_all();
    done.get_future().get();
  }

  void Answer(const std::vector<LanguageModelMessage>& messages, const LanguageModelOptions& options,
              const std::stop_token& stop, ResponseQueue& queue) {
    try {
      const ComPtr<IWinMLCancellationSource> source = engine_->NewSource();
      const std::stop_callback stopped(stop, [&] { source->Cancel(); });
      Become(source);
      if (queue.abandoned() || IsEnding(&queue)) source->Cancel();
      LanguageModelResponse response = engine_->Generate(messages, options, source.Get(), queue);
      Become(nullptr);
      Forget(&queue);
      queue.Finish(std::move(response));
    } catch (...) {
      Become(nullptr);
      Forget(&queue);
      queue.Fail(std::current_exception());
    }
  }

  void Become(ComPtr<IWinMLCancellationSource> source) {
    const std::lock_guard lock(mutex_);
    current_ = std::move(source);
  }
  void Forget(const ResponseQueue* queue) {
    const std::lock_guard lock(mutex_);
    std::erase_if(open_, [&](const auto& open) { return open.get() == queue; });
    std::erase(ending_, queue);
  }
  bool IsEnding(const ResponseQueue* queue) {
    const std::lock_guard lock(mutex_);
    return std::find(ending_.begin(), ending_.end(), queue) != ending_.end();
  }
  void EndOpenAnswers() {
    const std::lock_guard lock(mutex_);
    if (current_) current_->Cancel();
    for (const auto& queue : open_) {
      queue->Hurry();
      ending_.push_back(queue.get());
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::shared_ptr<ResponseQueue>> open_;
  std::vector<const ResponseQueue*> ending_;  // of open_
  ComPtr<IWinMLCancellationSource> current_;
  bool suspended_ = false;
  bool closing_ = false;
  std::unique_ptr<Engine> engine_;  // used on the thread only
  std::thread thread_;              // last: it uses the others
};

}  // namespace detail
}  // namespace openwinml

#endif  // OPENWINML_LANGUAGE_MODEL_ENGINE_HPP_
