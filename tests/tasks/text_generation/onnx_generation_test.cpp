// Random ONNX decoders in every configuration of the task, against a raw ONNX Runtime loop.
// The models are written by tests/support/onnx_decoders.
#include <WinMLTensorFactory.h>

#include <winml/tasks/text_generation/onnx/TextGeneration.hpp>

#include "backend/ort/raw_ort.h"
#include "base/half.h"
#include "com/wide.h"
#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

using testing::SizeIs;

// As in generate.py.
constexpr UINT32 kVocabulary = 50;
constexpr uint64_t kCapacity = 32;
constexpr UINT32 kCachePairs = 4;
const Tokens kPrompt = {3, 7, 1, 9, 4};
constexpr size_t kCount = 20;

float LogitOf(const TensorView& view, size_t index) {
  if (view.dtype == DType::kFloat32) return reinterpret_cast<const float*>(view.data)[index];
  return HalfToFloat(reinterpret_cast<const uint16_t*>(view.data)[index]);
}

UINT32 Best(const TensorView& logits) {
  const size_t count = static_cast<size_t>(*ElementCount(logits.dims));
  size_t best = count - kVocabulary;
  for (size_t i = best; i < count; ++i) {
    if (LogitOf(logits, i) > LogitOf(logits, best)) best = i;
  }
  return static_cast<UINT32>(best - (count - kVocabulary));
}

// Takes the highest of [1, 1, V] logits; an application's own last stage of a pipeline that samples.
class ArgmaxProcessor final : public IWinMLProcessor {
 public:
  virtual ~ArgmaxProcessor() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    *object = nullptr;
    if (iid != __uuidof(IUnknown) && iid != __uuidof(IWinMLProcessor)) return E_NOINTERFACE;
    *object = static_cast<IWinMLProcessor*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }
  HRESULT STDMETHODCALLTYPE GetInputCount(UINT32* count) override {
    *count = 1;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetInputTensorDesc(UINT32, WINML_TENSOR_DESC* desc) override {
    static const UINT64 kDims[] = {1, 1, kVocabulary};
    *desc = {WINML_TENSOR_DATA_TYPE_FLOAT32, 3, kDims};
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetOutputCount(UINT32* count) override {
    *count = 1;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetOutputTensorDesc(UINT32, WINML_TENSOR_DESC* desc) override {
    static const UINT64 kDims[] = {1, 1};
    *desc = {WINML_TENSOR_DATA_TYPE_INT64, 2, kDims};
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE Execute(UINT32, IWinMLTensor** inputs, UINT32, IWinMLTensor** outputs) override {
    ComPtr<IWinMLTensorDataLock> lock;
    BYTE* data = nullptr;
    UINT64 bytes = 0;
    HRESULT result = inputs[0]->Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE, lock.GetAddressOf());
    if (SUCCEEDED(result)) result = lock->GetData(&data, &bytes);
    if (FAILED(result)) return result;
    const INT64 best = Best({DType::kFloat32, {1, 1, kVocabulary}, reinterpret_cast<std::byte*>(data), bytes});
    if (!outputs[0]) {
      std::vector<BYTE> content(sizeof best);
      std::memcpy(content.data(), &best, sizeof best);
      outputs[0] = new StrangerTensor(WINML_TENSOR_DATA_TYPE_INT64, {1, 1}, content);
      return S_OK;
    }
    ComPtr<IWinMLTensorDataLock> place;
    result = outputs[0]->Lock(WINML_TENSOR_LOCK_MODE_WRITE, WINML_TENSOR_LOCK_FLAG_NONE, place.GetAddressOf());
    if (SUCCEEDED(result)) result = place->GetData(&data, &bytes);
    if (SUCCEEDED(result)) std::memcpy(data, &best, sizeof best);
    return result;
  }

 private:
  std::atomic<ULONG> references_{1};
};

class OnnxGeneration : public TextGenerationTest, public testing::WithParamInterface<const char*> {
 protected:
  OnnxGeneration() {
    EXPECT_EQ(factory->CreateTextGenerationTask(tokenizer.Get(), WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT, 0, nullptr,
                                                task.GetAddressOf()),
              S_OK);
  }

  static std::string Path(const std::string& file) {
    return std::string(OWML_ONNX_DECODERS) + "/" + GetParam() + "/" + file;
  }
  static DType Type() { return std::string(GetParam()) == "float16" ? DType::kFloat16 : DType::kFloat32; }
  static Dims PackedState() { return {1, 9, kCapacity, 8}; }

  ComPtr<IWinMLStage> AddStage(IWinMLPipelineBuilder* builder, const std::string& file) {
    ComPtr<IWinMLModel> loaded;
    ComPtr<IWinMLStage> stage;
    EXPECT_EQ(runtime->LoadModelFromFile(ToWide(Path(file)).c_str(), nullptr, loaded.GetAddressOf()), S_OK)
        << openwinml::LastErrorMessage();
    EXPECT_EQ(builder->AddModelStage(loaded.Get(), cpu.Get(), L"lm", stage.GetAddressOf()), S_OK);
    return stage;
  }

  static void SetState(IWinMLStage* stage, UINT32 first_input, UINT32 first_output, UINT32 count, bool callers,
                       UINT64 capacity) {
    ComPtr<IWinMLStatefulStageOptions> options;
    ASSERT_EQ(stage->QueryInterface(IID_PPV_ARGS(options.GetAddressOf())), S_OK);
    for (UINT32 i = 0; i < count; ++i) {
      EXPECT_EQ(options->AddStateTensorPair(first_input + i, first_output + i), S_OK);
    }
    EXPECT_EQ(options->SetCallerOwnsStateTensors(callers ? TRUE : FALSE), S_OK);
    EXPECT_EQ(options->SetSequenceCapacityHint(capacity), S_OK);
  }

  static ComPtr<IWinMLPipeline> Build(IWinMLPipelineBuilder* builder) {
    ComPtr<IWinMLPipeline> pipeline;
    EXPECT_EQ(builder->Build(pipeline.GetAddressOf()), S_OK) << openwinml::LastErrorMessage();
    return pipeline;
  }

  ComPtr<IWinMLPipelineBuilder> NewBuilder() {
    ComPtr<IWinMLPipelineBuilder> builder;
    EXPECT_EQ(runtime->CreatePipelineBuilder(builder.GetAddressOf()), S_OK);
    return builder;
  }

  ComPtr<IWinMLTensor> NewTensor(DType dtype, const Dims& dims) {
    ComPtr<IWinMLRawTensorFactory> tensors;
    EXPECT_EQ(cpu.As(&tensors), S_OK);
    const WINML_TENSOR_DESC desc = {static_cast<WINML_TENSOR_DATA_TYPE>(dtype), static_cast<UINT32>(dims.size()),
                                    dims.data()};
    ComPtr<IWinMLTensor> tensor;
    EXPECT_EQ(tensors->CreateTensor(&desc, nullptr, 0, tensor.GetAddressOf()), S_OK);
    return tensor;
  }

  static void Copy(IWinMLTensor* to, IWinMLTensor* from) {
    ComPtr<IWinMLMutableTensor> target;
    ASSERT_EQ(to->QueryInterface(IID_PPV_ARGS(target.GetAddressOf())), S_OK);
    ASSERT_EQ(target->CopyFrom(from), S_OK);
  }

  // A packed decoder whose state the application keeps and moves.
  struct PackedPipeline {
    ComPtr<IWinMLPipeline> pipeline;
    ComPtr<IWinMLStage> stage;
    ComPtr<IWinMLTensor> state_in, state_out;
  };

  PackedPipeline Packed(const std::string& file, IWinMLPipelineBuilder* builder) {
    PackedPipeline packed;
    packed.stage = AddStage(builder, file);
    SetState(packed.stage.Get(), 1, 1, 1, true, kCapacity);
    packed.state_in = NewTensor(Type(), PackedState());
    packed.state_out = NewTensor(Type(), PackedState());
    EXPECT_EQ(packed.stage->BindInput(1, packed.state_in.Get()), S_OK);
    EXPECT_EQ(packed.stage->BindOutput(1, packed.state_out.Get()), S_OK);
    return packed;
  }

  ComPtr<IWinMLTextGenerationConfiguration> PrefillDecode(const PackedPipeline& prefill, const PackedPipeline& decode,
                                                          IWinMLStage* decode_output, bool feedback) {
    auto made = NewConfiguration();
    made->SetMode(WINML_TEXT_GENERATION_CONFIGURATION_MODE_PREFILL_DECODE);
    made->SetPipeline(kPrefill, prefill.pipeline.Get());
    made->SetTokenInput(kPrefill, prefill.stage.Get(), 0);
    made->SetOutput(kPrefill, prefill.stage.Get(), 0, kLogits);
    made->SetPipeline(kDecode, decode.pipeline.Get());
    made->SetTokenInput(kDecode, decode.stage.Get(), 0);
    made->SetOutput(kDecode, decode_output, 0, feedback ? kSampled : kLogits);
    made->SetDecodeInputMode(feedback ? WINML_TEXT_GENERATION_DECODE_INPUT_MODE_PIPELINE_FEEDBACK
                                      : WINML_TEXT_GENERATION_DECODE_INPUT_MODE_CALLER_BOUND);
    made->SetLogicalCapacity(kCapacity);
    made->SetTokenTarget(cpu.Get());
    made->SetTokenizer(tokenizer.Get());
    return made;
  }

  void OpenWith(const ComPtr<IWinMLTextGenerationConfiguration>& its_configuration) {
    configuration = its_configuration;
    ASSERT_EQ(task->CreateSession(configuration.Get(), session.ReleaseAndGetAddressOf()), S_OK)
        << openwinml::LastErrorMessage();
  }

  // As the published samples do it: state moves between two reads.
  Answer ReadAllMovingState(IWinMLTextGenerationPullStream* stream, const PackedPipeline& prefill,
                            const PackedPipeline& decode) {
    Answer answer;
    for (bool first = true; ReadOne(stream, &answer); first = false) {
      Copy(decode.state_in.Get(), first ? prefill.state_out.Get() : decode.state_out.Get());
    }
    return ReadAll(stream, answer);
  }

  // Greedy tokens of a raw loop over the unified file.
  static Tokens RawUnified(const std::string& file, const Tokens& prompt, size_t count, uint64_t rows) {
    RawDecoder raw(Path(file), 2, std::vector<HostTensor>(kCachePairs, Zeros(Type(), {1, 2, rows, 8})));
    const auto past = [](size_t position) {
      return test::Tensor(DType::kInt32, {1, 1}, std::vector<int32_t>{static_cast<int32_t>(position)});
    };
    Tokens tokens;
    size_t position = 0;
    Tokens fed = prompt;
    while (tokens.size() < count) {
      const std::vector<int64_t> ids(fed.begin(), fed.end());
      tokens.push_back(Best(raw.Step({Ints({ids.size()}, ids), past(position)}).view));
      position += fed.size();
      fed = {tokens.back()};
    }
    return tokens;
  }

  // Greedy tokens of a raw loop over the packed file.
  static Tokens RawPacked(const Tokens& prompt, size_t count) {
    RawDecoder raw(Path("task_model.onnx"), 1, {Zeros(Type(), PackedState())});
    Tokens tokens, fed = prompt;
    while (tokens.size() < count) {
      const std::vector<int64_t> ids(fed.begin(), fed.end());
      tokens.push_back(Best(raw.Step({Ints({1, ids.size()}, ids)}).view));
      fed = {tokens.back()};
    }
    return tokens;
  }
};

TEST_P(OnnxGeneration, UnifiedPipelinesGiveTheTokensOfTheRawLoop) {
  for (const std::string file : {"model.onnx", "model_free.onnx", "growing.onnx"}) {
    SCOPED_TRACE(file);
    const auto builder = NewBuilder();
    const auto stage = AddStage(builder.Get(), file);
    SetState(stage.Get(), 2, 1, kCachePairs, false, kCapacity);
    const auto pipeline = Build(builder.Get());
    OpenWith(Unified(pipeline.Get(), stage.Get(), tokenizer.Get()));
    const Tokens expected = RawUnified(file, kPrompt, kCount, file == "growing.onnx" ? 0 : kCapacity);
    EXPECT_EQ(Generate(kPrompt, kCount).tokens, expected);
    EXPECT_EQ(Generate(kPrompt, kCount, NewCancellation().Get()).tokens, expected) << "again, cancellable";

    // A prompt in two halves is the same sequence.
    Generate({3, 7, 1}, 1);
    EXPECT_EQ(Retained(), (Tokens{3, 7, 1}));
    EXPECT_EQ(Continue({9, 4}, kCount).tokens, expected);
    ComPtr<IWinMLStatefulStage> state;
    ASSERT_EQ(stage.As(&state), S_OK);
    ASSERT_EQ(state->RewindTo(2), S_OK);
    EXPECT_EQ(Retained(), (Tokens{3, 7}));
    EXPECT_EQ(Continue({1, 9, 4}, kCount).tokens, expected);
    session.Reset();
  }
}

TEST_P(OnnxGeneration, TheHelperBuildsStageAndPipelineByNames) {
  namespace helpers = winml::tasks::text_generation;
  ComPtr<IWinMLModel> model_file;
  ASSERT_EQ(runtime->LoadModelFromFile(ToWide(Path("model.onnx")).c_str(), nullptr, model_file.GetAddressOf()), S_OK);
  const helpers::onnx::StateTensorPair pairs[] = {{2, 1}, {3, 2}, {4, 3}, {5, 4}};
  helpers::onnx::BuildTextGenerationArguments arguments;
  arguments.runtime = runtime.Get();
  arguments.model = model_file.Get();
  arguments.target = cpu.Get();
  arguments.tokenizer = tokenizer.Get();
  arguments.tokenInputName = L"input_ids";
  arguments.outputName = L"logits";
  arguments.debugName = L"decoder";
  arguments.stateTensorPairs = pairs;
  arguments.sequenceCapacityHint = kCapacity;
  helpers::TextGeneration built;
  ASSERT_EQ(helpers::onnx::BuildTextGeneration(arguments, built), S_OK) << openwinml::LastErrorMessage();
  session = built.session;
  EXPECT_EQ(Generate(kPrompt, kCount).tokens, RawUnified("model.onnx", kPrompt, kCount, kCapacity));
  arguments.outputName = L"probabilities";
  EXPECT_EQ(helpers::onnx::BuildTextGeneration(arguments, built), HRESULT_FROM_WIN32(ERROR_NOT_FOUND));
  arguments.tokenInputName = nullptr;
  EXPECT_EQ(helpers::onnx::BuildTextGeneration(arguments, built), E_POINTER);
  session.Reset();
}

TEST_P(OnnxGeneration, UnifiedPipelinesEndAtTheirCapacity) {
  const auto builder = NewBuilder();
  const auto stage = AddStage(builder.Get(), "model.onnx");
  SetState(stage.Get(), 2, 1, kCachePairs, false, kCapacity);
  const auto pipeline = Build(builder.Get());
  OpenWith(Unified(pipeline.Get(), stage.Get(), tokenizer.Get()));
  const Answer answer = Generate(kPrompt, 1000);
  EXPECT_THAT(answer.tokens, SizeIs(kCapacity - kPrompt.size()));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
  EXPECT_EQ(answer.tokens, RawUnified("model.onnx", kPrompt, answer.tokens.size(), kCapacity));
}

TEST_P(OnnxGeneration, PrefillAndDecodeWithBoundTokensGiveTheTokensOfTheRawLoop) {
  const auto prefill_builder = NewBuilder(), decode_builder = NewBuilder();
  PackedPipeline prefill = Packed("task_model.onnx", prefill_builder.Get());
  PackedPipeline decode = Packed("task_decode.onnx", decode_builder.Get());
  prefill.pipeline = Build(prefill_builder.Get());
  decode.pipeline = Build(decode_builder.Get());
  OpenWith(PrefillDecode(prefill, decode, decode.stage.Get(), false));
  const Tokens expected = RawPacked(kPrompt, kCount);
  for (int round = 0; round < 2; ++round) {
    const Answer answer = ReadAllMovingState(Start(kPrompt, Options(kCount).Get()).Get(), prefill, decode);
    EXPECT_EQ(answer.tokens, expected) << round;
  }
}

TEST_P(OnnxGeneration, OutputsOfTheCallerAreUsed) {
  const auto prefill_builder = NewBuilder(), decode_builder = NewBuilder();
  PackedPipeline prefill = Packed("task_model.onnx", prefill_builder.Get());
  PackedPipeline decode = Packed("task_decode.onnx", decode_builder.Get());
  prefill.pipeline = Build(prefill_builder.Get());
  decode.pipeline = Build(decode_builder.Get());
  // One bound by the application itself, one through the configuration.
  const auto prefill_logits = NewTensor(DType::kFloat32, {1, kPrompt.size(), kVocabulary});
  const auto decode_logits = NewTensor(DType::kFloat32, {1, 1, kVocabulary});
  ASSERT_EQ(prefill.stage->BindOutput(0, prefill_logits.Get()), S_OK);
  const auto made = PrefillDecode(prefill, decode, decode.stage.Get(), false);
  ASSERT_EQ(made->AddCallerOutputBinding(kDecode, decode.stage.Get(), 0, decode_logits.Get()), S_OK);
  OpenWith(made);
  const auto stream = Start(kPrompt, Options(kCount).Get());
  Answer answer;
  for (bool first = true; ReadOne(stream.Get(), &answer); first = false) {
    Copy(decode.state_in.Get(), first ? prefill.state_out.Get() : decode.state_out.Get());
    // What was chosen from is in the caller's tensor.
    IWinMLTensor* logits = first ? prefill_logits.Get() : decode_logits.Get();
    ComPtr<IWinMLTensorDataLock> lock;
    BYTE* data = nullptr;
    UINT64 bytes = 0;
    ASSERT_EQ(logits->Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE, lock.GetAddressOf()), S_OK);
    ASSERT_EQ(lock->GetData(&data, &bytes), S_OK);
    EXPECT_EQ(Best({DType::kFloat32, {bytes / 4}, reinterpret_cast<std::byte*>(data), bytes}), answer.tokens.back());
  }
  EXPECT_EQ(ReadAll(stream.Get(), answer).tokens, RawPacked(kPrompt, kCount));
  EXPECT_EQ(session->Close(), S_OK);
  ComPtr<IWinMLTensor> left;
  EXPECT_EQ(decode.stage->GetOutput(0, left.GetAddressOf()), HRESULT_FROM_WIN32(ERROR_NOT_FOUND));
  EXPECT_EQ(prefill.stage->GetOutput(0, left.GetAddressOf()), S_OK) << "the application's own binding stays";
}

TEST_P(OnnxGeneration, PrefillAndDecodeWithFeedbackGiveTheTokensOfTheRawLoop) {
  const auto prefill_builder = NewBuilder(), decode_builder = NewBuilder();
  PackedPipeline prefill = Packed("task_model.onnx", prefill_builder.Get());
  PackedPipeline decode = Packed("task_decode.onnx", decode_builder.Get());
  ComPtr<IWinMLProcessor> argmax;
  argmax.Attach(new ArgmaxProcessor);
  ComPtr<IWinMLStage> choice;
  ASSERT_EQ(decode_builder->AddProcessorStage(argmax.Get(), cpu.Get(), L"choice", choice.GetAddressOf()), S_OK);
  ASSERT_EQ(decode_builder->Connect(decode.stage.Get(), 0, choice.Get(), 0), S_OK);
  ASSERT_EQ(decode_builder->ConnectNextIteration(choice.Get(), 0, decode.stage.Get(), 0), S_OK);
  prefill.pipeline = Build(prefill_builder.Get());
  decode.pipeline = Build(decode_builder.Get());
  OpenWith(PrefillDecode(prefill, decode, choice.Get(), true));
  const Tokens expected = RawPacked(kPrompt, kCount);
  for (int round = 0; round < 2; ++round) {
    const Answer answer = ReadAllMovingState(Start(kPrompt, Options(kCount).Get()).Get(), prefill, decode);
    EXPECT_EQ(answer.tokens, expected) << round;
  }
}

TEST_P(OnnxGeneration, APromptOfUnknownIdsIsRefused) {
  const auto builder = NewBuilder();
  const auto stage = AddStage(builder.Get(), "model.onnx");
  SetState(stage.Get(), 2, 1, kCachePairs, false, kCapacity);
  const auto pipeline = Build(builder.Get());
  OpenWith(Unified(pipeline.Get(), stage.Get(), tokenizer.Get()));
  ComPtr<IWinMLTextGenerationPullStream> stream;
  const UINT32 token = kVocabulary;
  EXPECT_EQ(session->GenerateTokens(1, &token, nullptr, nullptr, stream.GetAddressOf()), E_INVALIDARG);
}

INSTANTIATE_TEST_SUITE_P(Elements, OnnxGeneration, testing::Values("float32", "float16"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace owml::test
