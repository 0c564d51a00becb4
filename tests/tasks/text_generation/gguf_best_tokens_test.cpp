// Generation on GGUF models with the highest logits alone and with whole rows: random models of every architecture.
#include <openwinml/pipeline_best_tokens.h>
#include <openwinml/stage_options.h>

#include "backend/native/random_models.h"
#include "com/wide.h"
#include "support/temporary_folder.h"
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

// A pipeline in front of another one: counts its runs, and hides the short way if told to.
class CountingPipeline final : public IWinMLPipeline, public IOwmlPipelineBestTokens {
 public:
  CountingPipeline(IWinMLPipeline* pipeline, bool offers_best)
      : pipeline_(pipeline), best_(offers_best ? Query<IOwmlPipelineBestTokens>(pipeline) : nullptr) {}
  virtual ~CountingPipeline() = default;

  int rows = 0;
  int lists = 0;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    *object = nullptr;
    if (iid == __uuidof(IUnknown) || iid == __uuidof(IWinMLPipeline)) *object = static_cast<IWinMLPipeline*>(this);
    if (iid == __uuidof(IOwmlPipelineBestTokens) && best_) *object = static_cast<IOwmlPipelineBestTokens*>(this);
    return *object ? S_OK : E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }  // lives as long as the test
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE Run() override {
    ++rows;
    return pipeline_->Run();
  }
  HRESULT STDMETHODCALLTYPE ResetExecutionState() override { return pipeline_->ResetExecutionState(); }
  HRESULT STDMETHODCALLTYPE GetMaxBestTokenCount(UINT32* count) override { return best_->GetMaxBestTokenCount(count); }
  HRESULT STDMETHODCALLTYPE RunForBestTokens(UINT32 count, OWML_TOKEN_LOGIT* best) override {
    ++lists;
    return best_->RunForBestTokens(count, best);
  }

 private:
  const ComPtr<IWinMLPipeline> pipeline_;
  const ComPtr<IOwmlPipelineBestTokens> best_;
};

class GgufBestTokens : public TextGenerationTest, public testing::WithParamInterface<RandomModel> {
 protected:
  void Load(OWML_ENGINE engine) {
    const std::wstring path = ToWide(folder_.Write("model.gguf", RandomModelFile(GetParam()).Bytes()).string());
    ASSERT_EQ(WinMLCreateTokenizerFromFile(path.c_str(), gguf_tokenizer_.GetAddressOf()), S_OK);
    ComPtr<IWinMLModel> loaded;
    ComPtr<IWinMLPipelineBuilder> builder;
    ASSERT_EQ(runtime->LoadModelFromFile(path.c_str(), nullptr, loaded.GetAddressOf()), S_OK)
        << openwinml::LastErrorMessage();
    ASSERT_EQ(runtime->CreatePipelineBuilder(builder.GetAddressOf()), S_OK);
    ASSERT_EQ(builder->AddModelStage(loaded.Get(), cpu.Get(), L"lm", stage_.GetAddressOf()), S_OK);
    ComPtr<IOwmlStageOptions> options;
    ASSERT_EQ(stage_.As(&options), S_OK);
    ASSERT_EQ(options->SetEngine(engine), S_OK);
    ASSERT_EQ(options->SetIntraOpThreadCount(engine == OWML_ENGINE_NATIVE ? 2 : 1), S_OK);
    ASSERT_EQ(builder->Build(pipeline_.GetAddressOf()), S_OK) << openwinml::LastErrorMessage();
    task = NewTask(gguf_tokenizer_.Get());
  }

  // Tokens of some prompts over `pipeline`, one after the other.
  std::vector<Tokens> Generated(CountingPipeline* pipeline, const WINML_TEXT_GENERATION_OPTIONS& values) {
    session.Reset();
    configuration = Unified(pipeline, stage_.Get(), gguf_tokenizer_.Get());
    EXPECT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK) << openwinml::LastErrorMessage();
    std::vector<Tokens> answers;
    for (const Tokens& prompt : {Tokens{1, 70, 80, 90}, Tokens{1, 200}, Tokens(30, 77)}) {
      const Answer answer = ReadAll(Start(prompt, Options(values).Get()).Get());
      EXPECT_EQ(answer.error, S_OK) << answer.sentence;
      answers.push_back(answer.tokens);
    }
    session.Reset();
    configuration.Reset();
    return answers;
  }

  TemporaryFolder folder_;
  ComPtr<IWinMLTokenizer> gguf_tokenizer_;
  ComPtr<IWinMLStage> stage_;
  ComPtr<IWinMLPipeline> pipeline_;
};

TEST_P(GgufBestTokens, GiveTheTokensOfWholeRows) {
  Load(OWML_ENGINE_NATIVE);
  WINML_TEXT_GENERATION_OPTIONS top_k = Values(40);
  top_k.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE | WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K |
                         WINML_TEXT_GENERATION_OPTION_FIELD_TOP_P | WINML_TEXT_GENERATION_OPTION_FIELD_SEED;
  top_k.temperature = 2.0f;
  top_k.topK = 63;
  top_k.topP = 0.95f;
  top_k.seed = 5;
  for (const auto& values : {Values(40), top_k}) {
    CountingPipeline rows(pipeline_.Get(), false), lists(pipeline_.Get(), true);
    const std::vector<Tokens> expected = Generated(&rows, values);
    EXPECT_EQ(Generated(&lists, values), expected);
    EXPECT_EQ(rows.lists, 0);
    EXPECT_EQ(lists.rows, 0) << "no run wrote a row";
    EXPECT_EQ(lists.lists, rows.rows);
    EXPECT_GE(lists.lists, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, GgufBestTokens, testing::ValuesIn(RandomModels()), ModelName);

class LlamaBestTokens : public GgufBestTokens {};

TEST_P(LlamaBestTokens, AreNotOfferedAndRowsAreReadInstead) {
  Load(OWML_ENGINE_LLAMA);
  CountingPipeline pipeline(pipeline_.Get(), true);
  EXPECT_EQ(Query<IOwmlPipelineBestTokens>(pipeline_.Get()), nullptr);
  EXPECT_FALSE(Generated(&pipeline, Values(4)).empty());
  EXPECT_EQ(pipeline.lists, 0);
  EXPECT_GT(pipeline.rows, 0);
}

INSTANTIATE_TEST_SUITE_P(One, LlamaBestTokens, testing::Values(RandomModels().front()), ModelName);

}  // namespace
}  // namespace owml::test
