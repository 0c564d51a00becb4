// openwinml/language_model.hpp over a tiny GGUF with a chat template, and SmolLM2 where it is.
#include <gmock/gmock.h>
#include <openwinml/diagnostics.h>

#include <cstdlib>
#include <openwinml/language_model.hpp>
#include <thread>

#include "support/temporary_folder.h"
#include "support/tiny_llama.h"

namespace owml::test {
namespace {

using openwinml::LanguageModel;
using openwinml::LanguageModelAvailability;
using openwinml::LanguageModelContext;
using openwinml::LanguageModelError;
using openwinml::LanguageModelOptions;
using openwinml::LanguageModelResponse;
using openwinml::LanguageModelResponseStatus;
using testing::HasSubstr;

constexpr char kTemplate[] =
    "{% for m in messages %}{{ m['role'][0] + m['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}a{% endif %}";

class LanguageModelTest : public testing::Test {
 protected:
  LanguageModelTest() {
    GgufWriter file = TinyLlamaMetadata();
    file.Add("tokenizer.chat_template", std::string(kTemplate));
    AddTinyLlamaTensors(&file);
    path = folder.Write("models/tiny.gguf", file.Bytes()).string();
  }

  LanguageModel Create() { return LanguageModel::CreateAsync(path).get(); }

  // A seed gives the same answer each time.
  static LanguageModelOptions Sampled(uint32_t count) {
    LanguageModelOptions options;
    options.Temperature = 1;
    options.Seed = 5;
    options.MaxTokens = count;
    return options;
  }

  TemporaryFolder folder;
  std::string path;
  LanguageModelContext context = LanguageModelContext().AddSystemMessage("be brief").AddUserMessage("hello");
};

TEST_F(LanguageModelTest, AvailabilityIsTold) {
  EXPECT_EQ(LanguageModel::CheckAvailability(path), LanguageModelAvailability::kReady);
  EXPECT_EQ(LanguageModel::CheckAvailability(path + "x"), LanguageModelAvailability::kNotFound);
  EXPECT_EQ(LanguageModel::CheckAvailability(folder.Write("a.txt", "text").string()),
            LanguageModelAvailability::kNotSupported);
}

TEST_F(LanguageModelTest, ANameIsFoundInTheCache) {
  const char* before = std::getenv("OWML_CACHE_DIR");
  const std::string kept = before ? before : "";
  setenv("OWML_CACHE_DIR", folder.path().c_str(), 1);
  EXPECT_EQ(LanguageModel::CheckAvailability("tiny"), LanguageModelAvailability::kReady);
  EXPECT_EQ(LanguageModel::CheckAvailability("tiny.gguf"), LanguageModelAvailability::kReady);
  EXPECT_EQ(LanguageModel::CheckAvailability("huge"), LanguageModelAvailability::kNotFound);
  EXPECT_EQ(LanguageModel::CheckAvailability("../models/tiny"), LanguageModelAvailability::kNotFound);
  before ? setenv("OWML_CACHE_DIR", kept.c_str(), 1) : unsetenv("OWML_CACHE_DIR");
}

TEST_F(LanguageModelTest, LoadingTellsItsProgressAndCanBeStopped) {
  std::vector<double> seen;
  LanguageModel::CreateAsync(path, [&](double done) { seen.push_back(done); }).get();
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.front(), 0);
  EXPECT_EQ(seen.back(), 1);
  std::stop_source stop;
  auto loading = LanguageModel::CreateAsync(
      path, [&](double) { stop.request_stop(); }, stop.get_token());
  try {
    loading.get();
    FAIL();
  } catch (const LanguageModelError& error) {
    EXPECT_EQ(error.code(), HRESULT_FROM_WIN32(ERROR_CANCELLED));
  }
}

TEST_F(LanguageModelTest, AModelThatIsNotThereOrIsNoneIsAnError) {
  for (const std::string& model : {std::string("no such model"), folder.Write("b.gguf", "GGUF, not quite").string()}) {
    EXPECT_THROW(LanguageModel::CreateAsync(model).get(), LanguageModelError);
  }
}

TEST_F(LanguageModelTest, WholeAnswersAndPiecesAgree) {
  LanguageModel model = Create();
  const LanguageModelResponse whole = model.GenerateResponseAsync(context, Sampled(24)).get();
  EXPECT_FALSE(whole.text.empty());
  auto stream = model.GenerateResponseStreamAsync(context, Sampled(24));
  std::string joined;
  for (const std::string& piece : stream) joined += piece;
  EXPECT_EQ(joined, whole.text);
  const LanguageModelResponse response = stream.Response();
  EXPECT_EQ(response.text, whole.text);
  EXPECT_EQ(response.status, whole.status);
  EXPECT_EQ(response.promptTokens, whole.promptTokens);
  EXPECT_GT(response.cachedPromptTokens, 0u) << "the same conversation again";
}

TEST_F(LanguageModelTest, StopTokensEndAnAnswer) {
  LanguageModel model = Create();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(model.GenerateResponseAsync(context, Sampled(24), stop.get_token()).get().status,
            LanguageModelResponseStatus::kCanceled);
  std::stop_source later;
  auto stream = model.GenerateResponseStreamAsync(context, Sampled(200), later.get_token());
  stream.Read();
  std::thread([&] { later.request_stop(); }).join();
  const LanguageModelResponse response = stream.Response();
  EXPECT_NE(response.status, LanguageModelResponseStatus::kMaxTokens);
}

TEST_F(LanguageModelTest, AStreamThatIsDroppedMakesRoomForTheNext) {
  LanguageModel model = Create();
  {
    auto stream = model.GenerateResponseStreamAsync(context, Sampled(200));
    stream.Read();
  }
  auto first = model.GenerateResponseAsync(context, Sampled(8));
  auto second = model.GenerateResponseAsync("hello", Sampled(8));
  EXPECT_LE(first.get().completionTokens, 8u);
  EXPECT_LE(second.get().completionTokens, 8u);
}

TEST_F(LanguageModelTest, BadOptionsAreTheAnswersError) {
  LanguageModel model = Create();
  LanguageModelOptions options;
  options.TopP = 2;
  try {
    model.GenerateResponseAsync(context, options).get();
    FAIL();
  } catch (const LanguageModelError& error) {
    EXPECT_EQ(error.code(), E_INVALIDARG);
    EXPECT_THAT(error.what(), HasSubstr("topP"));
  }
  auto stream = model.GenerateResponseStreamAsync(context, options);
  EXPECT_THROW(stream.Read(), LanguageModelError);
  EXPECT_FALSE(model.GenerateResponseAsync(context, Sampled(8)).get().text.empty()) << "it goes on";
}

TEST_F(LanguageModelTest, SuspendEndsStreamsAndResumeGoesOn) {
  LanguageModel model = Create();
  const std::string expected = model.GenerateResponseAsync(context, Sampled(24)).get().text;
  for (const bool release : {false, true}) {
    auto stream = model.GenerateResponseStreamAsync(context, Sampled(220));
    auto waiting = model.GenerateResponseAsync(context, Sampled(220));
    stream.Read();
    model.Suspend(release);
    const LanguageModelResponse ended = stream.Response();
    EXPECT_NE(ended.status, LanguageModelResponseStatus::kMaxTokens);
    EXPECT_EQ(waiting.get().status, LanguageModelResponseStatus::kCanceled);
    try {
      model.GenerateResponseAsync(context).get();
      FAIL();
    } catch (const LanguageModelError& error) {
      EXPECT_EQ(error.code(), E_NOT_VALID_STATE);
    }
    model.Resume();
    EXPECT_EQ(model.GenerateResponseAsync(context, Sampled(24)).get().text, expected) << release;
  }
}

TEST_F(LanguageModelTest, ReleasingGivesObjectsBack) {
  LanguageModel model = Create();
  const uint32_t loaded = OwmlLiveObjectCount();
  model.Suspend(true);
  EXPECT_LT(OwmlLiveObjectCount(), loaded);
  model.Resume();
  EXPECT_EQ(OwmlLiveObjectCount(), loaded);
}

#if defined(__cpp_impl_coroutine)
// A coroutine that runs by itself and says when it is through.
struct Task {
  struct promise_type {
    std::promise<std::string> result;
    Task get_return_object() { return {result.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_value(std::string text) { result.set_value(std::move(text)); }
    void unhandled_exception() { result.set_exception(std::current_exception()); }
  };
  std::future<std::string> result;
};

Task ReadAll(openwinml::LanguageModelResponseStream stream) {
  std::string text;
  while (auto piece = co_await stream.Next()) text += *piece;
  co_return text;
}

TEST_F(LanguageModelTest, CoroutinesReadStreams) {
  LanguageModel model = Create();
  const std::string expected = model.GenerateResponseAsync(context, Sampled(24)).get().text;
  EXPECT_EQ(ReadAll(model.GenerateResponseStreamAsync(context, Sampled(24))).result.get(), expected);
  LanguageModelOptions bad;
  bad.Temperature = -1;
  EXPECT_THROW(ReadAll(model.GenerateResponseStreamAsync(context, bad)).result.get(), LanguageModelError);
}
#endif

TEST_F(LanguageModelTest, TheModelMayGoBeforeItsStream) {
  std::optional<openwinml::LanguageModelResponseStream> stream;
  {
    LanguageModel model = Create();
    stream.emplace(model.GenerateResponseStreamAsync(context, Sampled(220)));
    stream->Read();
  }
  EXPECT_NE(stream->Response().status, LanguageModelResponseStatus::kMaxTokens);
}

}  // namespace
}  // namespace owml::test
