// GGUF models: a tiny one with random weights on every engine, and SmolLM2 against a raw llama.cpp loop.
#include <llama.h>
#include <openwinml/stage_cancellation.h>
#include <openwinml/stage_options.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "com/wide.h"
#include "support/temporary_folder.h"
#include "support/tiny_llama.h"
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class LlamaGeneration : public TextGenerationTest {
 protected:
  void Load(const std::string& path, UINT64 capacity) {
    const std::wstring wide = ToWide(path);
    ASSERT_EQ(WinMLCreateTokenizerFromFile(wide.c_str(), gguf_tokenizer.GetAddressOf()), S_OK);
    ComPtr<IWinMLModel> loaded;
    ComPtr<IWinMLPipelineBuilder> builder;
    ASSERT_EQ(runtime->LoadModelFromFile(wide.c_str(), nullptr, loaded.GetAddressOf()), S_OK)
        << openwinml::LastErrorMessage();
    ASSERT_EQ(runtime->CreatePipelineBuilder(builder.GetAddressOf()), S_OK);
    ASSERT_EQ(builder->AddModelStage(loaded.Get(), cpu.Get(), L"lm", stage.GetAddressOf()), S_OK);
    ComPtr<IWinMLStatefulStageOptions> options;
    ASSERT_EQ(stage.As(&options), S_OK);
    ASSERT_EQ(options->SetSequenceCapacityHint(capacity), S_OK);
    ComPtr<IOwmlStageOptions> ours;
    ASSERT_EQ(stage.As(&ours), S_OK);
    ASSERT_EQ(ours->SetEngine(engine), S_OK);
    ASSERT_EQ(ours->SetIntraOpThreadCount(threads), S_OK);
    ASSERT_EQ(ours->SetBatchSize(batch), S_OK);
    ComPtr<IOwmlStageCancellation> cancellation;
    ASSERT_EQ(stage.As(&cancellation), S_OK);
    ASSERT_EQ(cancellation->SetCancellationSource(nullptr), E_NOT_VALID_STATE) << "before Build";
    ASSERT_EQ(builder->Build(pipeline.GetAddressOf()), S_OK) << openwinml::LastErrorMessage();
    ASSERT_EQ(stage.As(&state), S_OK);
    task = NewTask(gguf_tokenizer.Get());
    configuration = Unified(pipeline.Get(), stage.Get(), gguf_tokenizer.Get());
    ASSERT_EQ(task->CreateSession(configuration.Get(), session.GetAddressOf()), S_OK) << openwinml::LastErrorMessage();
  }

  void LoadTiny(UINT64 capacity = 64) { Load(folder.Write("tiny.gguf", TinyLlama().Bytes()).string(), capacity); }

  Answer GenerateText(const std::string& prompt, UINT32 max_new_tokens) {
    ComPtr<IWinMLTextGenerationPullStream> stream;
    EXPECT_EQ(
        session->GenerateText(ToWide(prompt).c_str(), Options(max_new_tokens).Get(), nullptr, stream.GetAddressOf()),
        S_OK)
        << openwinml::LastErrorMessage();
    return stream ? ReadAll(stream.Get()) : Answer{};
  }

  // A second stage and pipeline over the same file, for drafts.
  void MakeDraft(const std::string& path) {
    ComPtr<IWinMLModel> loaded;
    ComPtr<IWinMLPipelineBuilder> builder;
    ASSERT_EQ(runtime->LoadModelFromFile(ToWide(path).c_str(), nullptr, loaded.GetAddressOf()), S_OK);
    ASSERT_EQ(runtime->CreatePipelineBuilder(builder.GetAddressOf()), S_OK);
    ASSERT_EQ(builder->AddModelStage(loaded.Get(), cpu.Get(), L"draft", draft_stage.GetAddressOf()), S_OK);
    ComPtr<IOwmlStageOptions> ours;
    ASSERT_EQ(draft_stage.As(&ours), S_OK);
    ASSERT_EQ(ours->SetEngine(engine), S_OK);
    ASSERT_EQ(builder->Build(draft_pipeline.GetAddressOf()), S_OK);
  }

  HRESULT Reopen(WINML_TEXT_GENERATION_SPECULATIVE_METHOD method) {
    session.Reset();
    configuration = Unified(pipeline.Get(), stage.Get(), gguf_tokenizer.Get());
    ComPtr<IWinMLTextGenerationSpeculativeConfiguration> view;
    EXPECT_EQ(configuration.As(&view), S_OK);
    const WINML_TEXT_GENERATION_SPECULATIVE_OPTIONS options = {method, 4};
    EXPECT_EQ(view->SetSpeculativeOptions(&options), S_OK);
    if (method == WINML_TEXT_GENERATION_SPECULATIVE_METHOD_DRAFT_MODEL) {
      EXPECT_EQ(
          view->SetDraftPipeline(draft_pipeline.Get(), draft_stage.Get(), 0, draft_stage.Get(), 0, draft_stage.Get()),
          S_OK);
    }
    return task->CreateSession(configuration.Get(), session.GetAddressOf());
  }

  OWML_ENGINE engine = OWML_ENGINE_LLAMA;
  UINT32 threads = 0;  // 0 = the engine's choice, as below
  UINT32 batch = 0;
  TemporaryFolder folder;
  ComPtr<IWinMLTokenizer> gguf_tokenizer;
  ComPtr<IWinMLStage> stage;
  ComPtr<IWinMLStatefulStage> state;
  ComPtr<IWinMLPipeline> pipeline;
  ComPtr<IWinMLStage> draft_stage;
  ComPtr<IWinMLPipeline> draft_pipeline;
};

class GgufGeneration : public LlamaGeneration, public testing::WithParamInterface<OWML_ENGINE> {
 protected:
  GgufGeneration() { engine = GetParam(); }
};

TEST_P(GgufGeneration, IsReproducibleAndStreamsItsText) {
  LoadTiny();
  const Answer first = GenerateText("hello", 20);
  EXPECT_THAT(first.tokens, SizeIs(testing::Gt(0u)));
  EXPECT_EQ(first.error, S_OK);
  const Answer again = GenerateText("hello", 20);
  EXPECT_EQ(again.tokens, first.tokens);
  EXPECT_EQ(again.text, first.text);
}

TEST_P(GgufGeneration, AContinuationGivesWhatAWholePromptGives) {
  LoadTiny();
  const Answer whole = Generate({1, 70, 80, 90, 100}, 12);
  Generate({1, 70, 80}, 1);
  EXPECT_EQ(Continue({90, 100}, 12).tokens, whole.tokens);
  ASSERT_EQ(state->RewindTo(2), S_OK);
  EXPECT_EQ(Continue({80, 90, 100}, 12).tokens, whole.tokens);
}

TEST_P(GgufGeneration, EndsAtTheCapacityAndRefusesWhatDoesNotFit) {
  LoadTiny(16);
  UINT64 capacity = 0;
  ASSERT_EQ(state->GetSequenceCapacity(&capacity), S_OK);
  const Answer answer = Generate({70, 80}, 4000);
  if (answer.reason != WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN) {
    EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
    EXPECT_EQ(answer.tokens.size() + 2, capacity);
  }
  const Tokens prompt(static_cast<size_t>(capacity) + 1, 70);
  ComPtr<IWinMLTextGenerationPullStream> stream;
  EXPECT_EQ(session->GenerateTokens(static_cast<UINT32>(prompt.size()), prompt.data(), nullptr, nullptr,
                                    stream.GetAddressOf()),
            kTooLong);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr(std::to_string(capacity)));
}

TEST_P(GgufGeneration, MediaAreRefusedByTheStage) {
  LoadTiny();
  ComPtr<IWinMLMediaEncoder> encoder;
  EXPECT_EQ(session->CreateMediaEncoderFromFile(L"projector.gguf", nullptr, encoder.GetAddressOf()), kNotSupported);
}

// Cancelled when it has been asked so often.
class PatientSource final : public IWinMLCancellationSource {
 public:
  explicit PatientSource(int patience) : patience_(patience) {}
  virtual ~PatientSource() = default;
  int asked = 0;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE Cancel() override { return S_OK; }
  HRESULT STDMETHODCALLTYPE GetIsCanceled(BOOL* canceled) override {
    *canceled = ++asked > patience_ ? TRUE : FALSE;
    return S_OK;
  }

 private:
  const int patience_;
};

TEST_P(GgufGeneration, EndsInTheMiddleOfARunAndLeavesTheSequenceAsItWas) {
  LoadTiny(256);
  const Tokens prompt(200, 70);
  const Answer whole = Generate(prompt, 4);
  PatientSource patient(1000000);
  EXPECT_EQ(Generate(prompt, 4, &patient).tokens, whole.tokens) << "being watched changes nothing";
  EXPECT_GT(patient.asked, 8) << "the stage looks at the source inside its run";
  ASSERT_EQ(session->Reset(), S_OK);

  Generate({1, 70}, 1);
  const Tokens retained = Retained();
  PatientSource source(3);  // the generation asks once before it runs
  ComPtr<IWinMLTextGenerationPullStream> stream;
  ASSERT_EQ(session->ContinueTokens(200, prompt.data(), Options(4).Get(), &source, stream.GetAddressOf()), S_OK);
  const Answer answer = ReadAll(stream.Get());
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  EXPECT_EQ(Retained(), retained);
  UINT64 position = 0;
  ASSERT_EQ(state->GetSequencePosition(&position), S_OK);
  EXPECT_EQ(position, retained.size());
  EXPECT_EQ(Generate(prompt, 4).tokens, whole.tokens) << "nothing is left behind";
}

class GgufSpeculation : public GgufGeneration {};

TEST_P(GgufSpeculation, GivesTheTokensOfSingleSteps) {
  engine = GetParam();
  LoadTiny(256);
  MakeDraft((folder.path() / "tiny.gguf").string());
  Tokens prompt;
  for (UINT32 i = 0; i < 40; ++i) prompt.push_back(60 + i % 9);
  const Answer expected = Generate(prompt, 60);
  for (const auto method :
       {WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP, WINML_TEXT_GENERATION_SPECULATIVE_METHOD_DRAFT_MODEL}) {
    ASSERT_EQ(Reopen(method), S_OK) << openwinml::LastErrorMessage();
    const Answer answer = Generate(prompt, 60);
    EXPECT_EQ(answer.error, S_OK) << answer.sentence;
    // llama.cpp may round steps over several positions differently; the native engine gives the same bits.
    if (engine == OWML_ENGINE_NATIVE) {
      EXPECT_EQ(answer.tokens, expected.tokens) << method;
    }
    EXPECT_THAT(answer.tokens, SizeIs(testing::Le(60u)));
  }
  EXPECT_EQ(Reopen(WINML_TEXT_GENERATION_SPECULATIVE_METHOD_MODEL), kNotSupported) << "it has no predictor of its own";
}

INSTANTIATE_TEST_SUITE_P(Engines, GgufSpeculation, testing::Values(OWML_ENGINE_LLAMA, OWML_ENGINE_NATIVE));
INSTANTIATE_TEST_SUITE_P(Engines, GgufGeneration, testing::Values(OWML_ENGINE_LLAMA, OWML_ENGINE_NATIVE));

class LlamaGenerationSmolLm2 : public LlamaGeneration {
 protected:
  void SetUp() override {
    if (std::string(OWML_MODEL_SMOLLM2).empty()) GTEST_SKIP() << "SmolLM2 was not fetched (tools/bootstrap)";
    engine = OWML_ENGINE_LLAMA;
    Load(OWML_MODEL_SMOLLM2, 512);
  }

  // The greedy loop with llama.cpp's own interface.
  static Tokens RawLoop(const Tokens& prompt, size_t count) {
    llama_model* model = llama_model_load_from_file(OWML_MODEL_SMOLLM2, llama_model_default_params());
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 512;
    params.n_threads = params.n_threads_batch = 1;
    llama_context* context = llama_init_from_model(model, params);
    Tokens tokens;
    std::vector<int32_t> fed(prompt.begin(), prompt.end());
    while (tokens.size() < count) {
      EXPECT_EQ(llama_decode(context, llama_batch_get_one(fed.data(), static_cast<int32_t>(fed.size()))), 0);
      const float* logits = llama_get_logits_ith(context, -1);
      tokens.push_back(static_cast<UINT32>(std::max_element(logits, logits + 49152) - logits));
      fed = {static_cast<int32_t>(tokens.back())};
    }
    llama_free(context);
    llama_model_free(model);
    return tokens;
  }
};

TEST_F(LlamaGenerationSmolLm2, AnswersLikeARawLoop) {
  const Answer answer = GenerateText("The capital of France is", 24);
  EXPECT_NE(answer.text.find(L"Paris"), std::wstring::npos);
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS);
  UINT32 count = 0;
  UINT32* ids = nullptr;
  ASSERT_EQ(
      gguf_tokenizer->Encode(L"The capital of France is", WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS, &count, &ids),
      S_OK);
  const Tokens prompt = Taken(count, ids);
  EXPECT_EQ(answer.prompt_tokens, prompt.size());
  EXPECT_EQ(answer.tokens, RawLoop(prompt, 24));
}

TEST_F(LlamaGenerationSmolLm2, ASeedFixesTheSample) {
  WINML_TEXT_GENERATION_OPTIONS values = Values(8);
  values.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE | WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K |
                          WINML_TEXT_GENERATION_OPTION_FIELD_SEED;
  values.temperature = 0.9f;
  values.topK = 40;
  const auto sample = [&](UINT64 seed) {
    values.seed = seed;
    return ReadAll(Start({504, 3575, 282, 4649, 314}, Options(values).Get()).Get()).tokens;
  };
  const Tokens once = sample(7);
  EXPECT_EQ(sample(7), once);
  EXPECT_NE(sample(8), once);
}

// Greedy text whatever way a prompt takes. A part of the prompts, and shorter answers, unless OWML_FULL_TESTS is set.
class GreedySmolLm2 : public LlamaGeneration, public testing::WithParamInterface<OWML_ENGINE> {
 protected:
  void SetUp() override {
    if (std::string(OWML_MODEL_SMOLLM2).empty()) GTEST_SKIP() << "SmolLM2 was not fetched (tools/bootstrap)";
    engine = GetParam();
    prompts = {"The capital of France is",
               "Once upon a time, in a village by the sea, there lived",
               "one two three four one two three four one two",
               "Water boils at a temperature of",
               "To bake bread you need",
               "The three primary colours are",
               "def fibonacci(n):",
               "A triangle has three sides and a square has",
               "The planets of the solar system are",
               "My favourite season is autumn because",
               "In the year 1969 people first",
               "The opposite of hot is cold, the opposite of day is",
               "Dear Sir or Madam, I am writing to",
               "If it rains tomorrow, we will",
               "A list of ten animals: 1. dog 2. cat 3.",
               "The human heart pumps blood through",
               "Music is a language that",
               "SELECT name, price FROM products WHERE",
               "The old man looked at the sea and",
               "Photosynthesis is the process by which"};
    if (!full) prompts.resize(engine == OWML_ENGINE_NATIVE ? 4 : 1);
  }

  void Reload(UINT32 its_threads, UINT32 its_batch) {
    session.Reset();
    configuration.Reset();
    task.Reset();
    pipeline.Reset();
    state.Reset();
    stage.Reset();
    gguf_tokenizer.Reset();
    threads = its_threads;
    batch = its_batch;
    Load(OWML_MODEL_SMOLLM2, 512);
  }

  Tokens Encode(const std::string& text) {
    UINT32 encoded = 0;
    UINT32* ids = nullptr;
    EXPECT_EQ(
        gguf_tokenizer->Encode(ToWide(text).c_str(), WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS, &encoded, &ids),
        S_OK);
    return Taken(encoded, ids);
  }

  // The native engine gives the same tokens on every way; differences of llama.cpp, whose batches round differently,
  // are counted.
  void Compare(size_t prompt, const Tokens& tokens, const std::string& way) {
    if (engine == OWML_ENGINE_NATIVE) {
      EXPECT_EQ(tokens, expected[prompt]) << way << ": " << prompts[prompt];
      return;
    }
    ++compared;
    const auto [here, there] =
        std::mismatch(tokens.begin(), tokens.end(), expected[prompt].begin(), expected[prompt].end());
    if (here == tokens.end() && there == expected[prompt].end()) return;
    ++different;
    Tokens before = Encode(prompts[prompt]);
    before.insert(before.end(), tokens.begin(), here);
    const float gap = GapAfter(before);
    std::printf("llama.cpp, %s, prompt %zu: another token at %td, gap of the two best logits %g\n", way.c_str(), prompt,
                here - tokens.begin(), static_cast<double>(gap));
    EXPECT_LT(gap, 0.5f) << "more than rounding: " << way << ": " << prompts[prompt];
  }

  // Between the two best logits behind these tokens, by llama.cpp's own interface.
  static float GapAfter(const Tokens& tokens) {
    llama_model* model = llama_model_load_from_file(OWML_MODEL_SMOLLM2, llama_model_default_params());
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 512;
    params.n_threads = params.n_threads_batch = 1;
    llama_context* context = llama_init_from_model(model, params);
    std::vector<int32_t> fed(tokens.begin(), tokens.end());
    EXPECT_EQ(llama_decode(context, llama_batch_get_one(fed.data(), static_cast<int32_t>(fed.size()))), 0);
    const float* logits = llama_get_logits_ith(context, -1);
    std::vector<float> best(2);
    std::partial_sort_copy(logits, logits + 49152, best.begin(), best.end(), std::greater<>());
    llama_free(context);
    llama_model_free(model);
    return best[0] - best[1];
  }

  bool full = std::getenv("OWML_FULL_TESTS") != nullptr;
  UINT32 count = full ? 128 : 24;
  std::vector<std::string> prompts;
  std::vector<Tokens> expected;
  size_t compared = 0;
  size_t different = 0;
};

TEST_P(GreedySmolLm2, IsTheSameOverThreadsBatchesPrefixesAndDrafts) {
  Reload(full && engine == OWML_ENGINE_NATIVE ? 2 : 1, 512);
  for (const std::string& prompt : prompts) expected.push_back(GenerateText(prompt, count).tokens);
  for (size_t i = 0; i < prompts.size(); ++i) {
    const Tokens prompt = Encode(prompts[i]);
    const Tokens suffix(prompt.begin() + 3, prompt.end());
    Generate(prompt, 2);
    ASSERT_EQ(state->RewindTo(3), S_OK);
    Compare(i, Continue(suffix, count).tokens, "after a kept prefix");
    PatientSource source(1000000);
    Compare(i, Generate(prompt, count, &source).tokens, "while it could be cancelled");
  }
  for (const auto& [its_threads, its_batch] : {std::pair{1u, 512u}, {2u, 1u}, {2u, 7u}, {1u, 32u}}) {
    // Threads of llama.cpp wait by spinning, which on a busy machine takes minutes.
    Reload(engine == OWML_ENGINE_NATIVE ? its_threads : 1, its_batch);
    for (size_t i = 0; i < prompts.size(); ++i) {
      Compare(i, GenerateText(prompts[i], count).tokens, "in batches of " + std::to_string(its_batch));
    }
  }
  MakeDraft(OWML_MODEL_SMOLLM2);
  for (const auto method :
       {WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP, WINML_TEXT_GENERATION_SPECULATIVE_METHOD_DRAFT_MODEL}) {
    ASSERT_EQ(Reopen(method), S_OK) << openwinml::LastErrorMessage();
    for (size_t i = 0; i < prompts.size(); ++i) {
      Compare(i, GenerateText(prompts[i], count).tokens, "with drafts of method " + std::to_string(method));
    }
  }
  if (engine == OWML_ENGINE_LLAMA) std::printf("llama.cpp: %zu of %zu texts differ\n", different, compared);
}

INSTANTIATE_TEST_SUITE_P(Engines, GreedySmolLm2, testing::Values(OWML_ENGINE_LLAMA, OWML_ENGINE_NATIVE));

}  // namespace
}  // namespace owml::test
