// Stateful sessions against a raw ONNX Runtime loop, in every published layout, FLOAT32 and FLOAT16.
// The models are written by tests/support/onnx_decoders.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "backend/ort/ort_fixture.h"
#include "backend/ort/raw_ort.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
const HRESULT kTooSmall = HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER);

// As in generate.py.
constexpr uint32_t kCachePairs = 4;
constexpr uint64_t kCapacity = 32;
const std::vector<int64_t> kPrompt = {3, 7, 1, 9, 4};
const std::vector<int64_t> kFollowing = {22, 40, 0, 49};

class OrtDecoder : public testing::TestWithParam<const char*> {
 protected:
  static std::string Path(const std::string& file) {
    return std::string(OWML_ONNX_DECODERS) + "/" + GetParam() + "/" + file;
  }
  static DType Type() { return std::string(GetParam()) == "float16" ? DType::kFloat16 : DType::kFloat32; }

  static SessionOptions Pairs(uint32_t first_input, uint32_t first_output, uint32_t count) {
    SessionOptions options;
    for (uint32_t i = 0; i < count; ++i) options.state_pairs.push_back({first_input + i, first_output + i});
    return options;
  }

  static std::unique_ptr<BackendSession> Open(const std::string& file, const SessionOptions& options) {
    return Load(File(Path(file)))->CreateSession(options);
  }

  static HostTensor Past(int32_t position) { return Tensor(DType::kInt32, {1, 1}, std::vector<int32_t>{position}); }

  static std::vector<HostTensor> Caches(uint64_t rows) {
    return std::vector<HostTensor>(kCachePairs, Zeros(Type(), {1, 2, rows, 8}));
  }

  // One run of a unified session: only the tokens are bound.
  static TensorBuffer Step(BackendSession& session, const std::vector<int64_t>& tokens) {
    const HostTensor ids = Ints({tokens.size()}, tokens);
    std::vector<InputValue> inputs(session.schema().inputs.size());
    inputs[0] = Bound(ids);
    return FirstOutput(session, inputs);
  }

  static void ExpectSame(const TensorBuffer& ours, const HostTensor& raw) {
    EXPECT_EQ(ours.view.dtype, raw.view.dtype);
    EXPECT_EQ(ours.view.dims, raw.view.dims);
    EXPECT_EQ(ValuesOf<uint8_t>(ours.view), raw.Values<uint8_t>());
  }

  // Prompt, then one token a run, compared at each step.
  static void ExpectSameLoop(BackendSession& session, RawDecoder& raw) {
    ExpectSame(Step(session, kPrompt), raw.Step({Ints({kPrompt.size()}, kPrompt), Past(0)}));
    uint64_t position = kPrompt.size();
    EXPECT_EQ(session.sequence_state()->position(), position);
    for (const int64_t token : kFollowing) {
      ExpectSame(Step(session, {token}), raw.Step({Ints({1}, {token}), Past(static_cast<int32_t>(position))}));
      EXPECT_EQ(session.sequence_state()->position(), ++position);
    }
  }
};

TEST_P(OrtDecoder, UnifiedEqualsTheRawLoop) {
  const auto session = Open("model.onnx", Pairs(2, 1, kCachePairs));
  for (uint32_t i = 0; i < session->schema().inputs.size(); ++i) EXPECT_EQ(session->FeedsInput(i), i != 0) << i;
  EXPECT_EQ(session->sequence_state()->capacity(), kCapacity);
  EXPECT_EQ(session->sequence_state()->declared_capacity(), std::nullopt);
  RawDecoder raw(Path("model.onnx"), 2, Caches(kCapacity));
  ExpectSameLoop(*session, raw);
}

TEST_P(OrtDecoder, UnifiedInOrtFormatEqualsTheRawLoopFromFileAndBuffer) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "model.ort").string();
  { const RawModel converter(Path("model.onnx"), path); }
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  for (const ModelSource& source : {File(path), Buffer(content.str())}) {
    const auto model = Load(source, ModelFormat::kOrtFlatbuffer);
    EXPECT_EQ(model->declared_schema()->inputs[0].name, "input_ids");
    EXPECT_EQ(model->declared_schema()->inputs[0].dim_names, (std::vector<std::string>{"seq"}));
    const auto session = model->CreateSession(Pairs(2, 1, kCachePairs));
    RawDecoder raw(path, 2, Caches(kCapacity));
    ExpectSameLoop(*session, raw);
  }
}

TEST_P(OrtDecoder, ResetStartsTheSameSequenceAgain) {
  const auto session = Open("model.onnx", Pairs(2, 1, kCachePairs));
  for (int round = 0; round < 2; ++round) {
    RawDecoder raw(Path("model.onnx"), 2, Caches(kCapacity));
    ExpectSameLoop(*session, raw);
    session->Reset();
    EXPECT_EQ(session->sequence_state()->position(), 0u);
  }
}

TEST_P(OrtDecoder, RewindKeepsTheFirstTokens) {
  for (const char* file : {"model.onnx", "growing.onnx"}) {
    const bool grows = std::string(file) == "growing.onnx";
    const auto session = Open(file, Pairs(2, 1, kCachePairs));
    RawDecoder raw(Path(file), 2, Caches(grows ? 0 : kCapacity));
    Step(*session, kPrompt);
    const std::vector<int64_t> kept(kPrompt.begin(), kPrompt.begin() + 3);
    raw.Step({Ints({3}, kept), Past(0)});
    session->sequence_state()->RewindTo(3);
    EXPECT_EQ(session->sequence_state()->position(), 3u);
    const HostTensor expected = raw.Step({Ints({2}, {10, 11}), Past(3)});
    ExpectSame(Step(*session, {10, 11}), expected);

    EXPECT_EQ(ErrorOf([&] { session->sequence_state()->RewindTo(6); }).first, E_INVALIDARG) << "ahead";
    EXPECT_EQ(session->sequence_state()->position(), 5u);
    session->sequence_state()->RewindTo(5);
    EXPECT_EQ(session->sequence_state()->position(), 5u);
    session->sequence_state()->RewindTo(0);
    EXPECT_EQ(session->sequence_state()->position(), 0u);
  }
}

TEST_P(OrtDecoder, ARunPastTheCapacityFailsAndChangesNothing) {
  const auto session = Open("model.onnx", Pairs(2, 1, kCachePairs));
  RawDecoder raw(Path("model.onnx"), 2, Caches(kCapacity));
  const std::vector<int64_t> long_prompt(kCapacity - 1, 5);
  Step(*session, long_prompt);
  raw.Step({Ints({long_prompt.size()}, long_prompt), Past(0)});
  const auto [code, sentence] = ErrorOf([&] { Step(*session, {1, 2}); });
  EXPECT_EQ(code, kTooSmall);
  EXPECT_THAT(sentence, AllOf(HasSubstr("2 tokens"), HasSubstr("position 31"), HasSubstr("32")));
  EXPECT_EQ(session->sequence_state()->position(), kCapacity - 1);
  ExpectSame(Step(*session, {8}), raw.Step({Ints({1}, {8}), Past(kCapacity - 1)}));
  EXPECT_EQ(ErrorOf([&] { Step(*session, {1}); }).first, kTooSmall) << "full";
}

TEST_P(OrtDecoder, AFailedRunLeavesTheStateAsItWas) {
  const auto session = Open("model.onnx", Pairs(2, 1, kCachePairs));
  RawDecoder raw(Path("model.onnx"), 2, Caches(kCapacity));
  Step(*session, kPrompt);
  raw.Step({Ints({kPrompt.size()}, kPrompt), Past(0)});
  EXPECT_TRUE(FAILED(ErrorOf([&] { Step(*session, {100000}); }).first)) << "a token outside the vocabulary";
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size());
  ExpectSame(Step(*session, {8}), raw.Step({Ints({1}, {8}), Past(static_cast<int32_t>(kPrompt.size()))}));
}

TEST_P(OrtDecoder, StateOfTheRuntimeCanNeitherBeBoundNorRead) {
  SessionOptions options = Pairs(2, 1, kCachePairs);
  const auto session = Open("model.onnx", options);
  const HostTensor ids = Ints({1}, {1});
  const HostTensor cache = Zeros(Type(), {1, 2, kCapacity, 8});
  std::vector<InputValue> inputs(session->schema().inputs.size());
  std::vector<OutputValue> outputs(session->schema().outputs.size());
  inputs[0] = Bound(ids);
  outputs[1] = Wanted();
  EXPECT_EQ(ErrorOf([&] { RunWith(*session, inputs, outputs); }).first, kNotSupported);
  outputs[1] = {};
  inputs[3] = Bound(cache);
  EXPECT_EQ(ErrorOf([&] { RunWith(*session, inputs, outputs); }).first, E_INVALIDARG);

  options.published_outputs = {true, true};
  EXPECT_EQ(ErrorOf([&] { Open("model.onnx", options); }).first, kNotSupported);
}

TEST_P(OrtDecoder, WithoutPairsTheCachesAreOrdinaryInputs) {
  const auto session = Open("model.onnx", {});
  EXPECT_EQ(session->sequence_state(), nullptr);
  const auto [code, sentence] = ErrorOf([&] { Step(*session, kPrompt); });
  EXPECT_EQ(code, E_INVALIDARG);
  EXPECT_THAT(sentence, HasSubstr("past_seq_len"));
}

TEST_P(OrtDecoder, ABoundPositionIsTakenFromTheCaller) {
  const auto session = Open("model.onnx", Pairs(2, 1, kCachePairs));
  RawDecoder raw(Path("model.onnx"), 2, Caches(kCapacity));
  const HostTensor ids = Ints({1}, {1});
  std::vector<InputValue> inputs(session->schema().inputs.size());
  inputs[0] = Bound(ids);
  const HostTensor past = Past(6);
  inputs[1] = Bound(past);
  ExpectSame(FirstOutput(*session, inputs), raw.Step({ids, past}));
}

TEST_P(OrtDecoder, PairsAreCheckedAtBuild) {
  const auto code_of = [](std::vector<StatePair> pairs) {
    SessionOptions options;
    options.state_pairs = std::move(pairs);
    return ErrorOf([&] { Open("model.onnx", options); }).first;
  };
  EXPECT_EQ(code_of({{9, 1}}), E_INVALIDARG) << "no such input";
  EXPECT_EQ(code_of({{2, 9}}), E_INVALIDARG) << "no such output";
  EXPECT_EQ(code_of({{2, 1}, {2, 2}}), E_INVALIDARG) << "an input twice";
  EXPECT_EQ(code_of({{2, 1}, {3, 1}}), E_INVALIDARG) << "an output twice";
  EXPECT_EQ(code_of({{2, 0}}), E_INVALIDARG) << "another shape";
  EXPECT_EQ(code_of({{1, 1}}), E_INVALIDARG) << "another type";
}

TEST_P(OrtDecoder, AnOpenStateAxisTakesTheHintOrTheLaterCapacity) {
  SessionOptions options = Pairs(2, 1, kCachePairs);
  const auto waiting = Open("model_free.onnx", options);
  EXPECT_EQ(ErrorOf([&] { waiting->sequence_state()->capacity(); }).first, kNotSupported);
  EXPECT_EQ(ErrorOf([&] { Step(*waiting, kPrompt); }).first, E_INVALIDARG);
  waiting->sequence_state()->SetCapacity(16);
  EXPECT_EQ(waiting->sequence_state()->capacity(), 16u);
  RawDecoder raw16(Path("model_free.onnx"), 2, Caches(16));
  ExpectSameLoop(*waiting, raw16);
  EXPECT_EQ(ErrorOf([&] { Step(*waiting, std::vector<int64_t>(8, 1)); }).first, kTooSmall);

  options.sequence_capacity_hint = 20;
  const auto hinted = Open("model_free.onnx", options);
  EXPECT_EQ(hinted->sequence_state()->capacity(), 20u);
  RawDecoder raw20(Path("model_free.onnx"), 2, Caches(20));
  ExpectSameLoop(*hinted, raw20);
  hinted->sequence_state()->SetCapacity(24);
  EXPECT_EQ(hinted->sequence_state()->position(), 0u) << "after the first run the state is reset";
  RawDecoder raw24(Path("model_free.onnx"), 2, Caches(24));
  ExpectSameLoop(*hinted, raw24);
}

TEST_P(OrtDecoder, AFixedCapacityCanBeLoweredButNotRaised) {
  const auto session = Open("model.onnx", Pairs(2, 1, kCachePairs));
  EXPECT_EQ(ErrorOf([&] { session->sequence_state()->SetCapacity(kCapacity + 1); }).first, E_INVALIDARG);
  EXPECT_EQ(ErrorOf([&] { session->sequence_state()->SetCapacity(0); }).first, E_INVALIDARG);
  session->sequence_state()->SetCapacity(kCapacity);
  EXPECT_EQ(session->sequence_state()->capacity(), kCapacity);
  session->sequence_state()->SetCapacity(6);
  EXPECT_EQ(session->sequence_state()->capacity(), 6u);
  EXPECT_EQ(ErrorOf([&] { Step(*session, std::vector<int64_t>(7, 1)); }).first, kTooSmall);
}

TEST_P(OrtDecoder, GrowingCachesEqualTheRawLoop) {
  const auto session = Open("growing.onnx", Pairs(2, 1, kCachePairs));
  EXPECT_EQ(session->sequence_state()->capacity(), 0u) << "no known limit";
  RawDecoder raw(Path("growing.onnx"), 2, Caches(0));
  ExpectSameLoop(*session, raw);
}

TEST_P(OrtDecoder, SplitEqualsTheRawLoop) {
  const auto embedding = Open("emb.onnx", {});
  const auto decoder = Open("decoder.onnx", Pairs(3, 1, kCachePairs));
  const auto head = Open("head.onnx", {});
  SequenceState& state = *decoder->sequence_state();
  state.SetCapacity(kCapacity);
  EXPECT_EQ(state.capacity(), kCapacity);

  const RawModel raw_embedding(Path("emb.onnx"));
  RawDecoder raw_decoder(Path("decoder.onnx"), 3, Caches(kCapacity));
  const RawModel raw_head(Path("head.onnx"));
  std::vector<int64_t> tokens = kPrompt;
  tokens.insert(tokens.end(), kFollowing.begin(), kFollowing.end());
  for (size_t step = 0; step < tokens.size(); ++step) {
    ASSERT_EQ(state.position(), step);
    std::vector<float> wide(kCapacity);
    std::vector<uint16_t> narrow(kCapacity);
    for (size_t i = step + 1; i < kCapacity; ++i) {
      wide[i] = std::numeric_limits<float>::lowest();
      narrow[i] = 0xFBFF;  // -65504
    }
    const HostTensor id = Ints({1, 1}, {tokens[step]});
    const HostTensor position = Ints({1}, {static_cast<int64_t>(state.position())});
    const HostTensor mask = Type() == DType::kFloat16 ? Tensor(DType::kFloat16, {1, 1, 1, kCapacity}, narrow)
                                                      : Floats({1, 1, 1, kCapacity}, wide);
    const TensorBuffer hidden = FirstOutput(*embedding, {Bound(id)});
    std::vector<InputValue> inputs(decoder->schema().inputs.size());
    inputs[0] = {true, hidden.view};
    inputs[1] = Bound(position);
    inputs[2] = Bound(mask);
    const TensorBuffer mixed = FirstOutput(*decoder, inputs);
    const TensorBuffer logits = FirstOutput(*head, {InputValue{true, mixed.view}});
    const HostTensor raw_hidden = raw_decoder.Step({raw_embedding.Run({id})[0], position, mask});
    ExpectSame(logits, raw_head.Run({raw_hidden})[0]);
  }
}

TEST_P(OrtDecoder, SplitDecoderRewinds) {
  const auto decoder = Open("decoder.onnx", Pairs(3, 1, kCachePairs));
  const HostTensor hidden = Zeros(Type(), {1, 1, 32});
  const HostTensor mask = Zeros(Type(), {1, 1, 1, kCapacity});
  std::vector<InputValue> inputs(decoder->schema().inputs.size());
  inputs[0] = Bound(hidden);
  inputs[2] = Bound(mask);
  for (int64_t step = 0; step < 4; ++step) {
    const HostTensor position = Ints({1}, {step});
    inputs[1] = Bound(position);
    FirstOutput(*decoder, inputs);
  }
  decoder->sequence_state()->RewindTo(1);
  EXPECT_EQ(decoder->sequence_state()->position(), 1u);
}

TEST_P(OrtDecoder, PackedStateEqualsTheRawLoop) {
  const auto session = Open("task_model.onnx", Pairs(1, 1, 1));
  EXPECT_EQ(session->sequence_state()->capacity(), kCapacity);
  const RawModel shapes(Path("task_model.onnx"));
  RawDecoder raw(Path("task_model.onnx"), 1, {shapes.ZeroInput(1)});
  const auto step = [&](const std::vector<int64_t>& tokens) {
    const HostTensor ids = Ints({1, tokens.size()}, tokens);
    ExpectSame(FirstOutput(*session, {Bound(ids), InputValue{}}), raw.Step({ids}));
  };
  step(kPrompt);
  for (const int64_t token : kFollowing) step({token});
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size() + kFollowing.size());

  // The position is inside the tensor, so that it cannot be moved from outside.
  EXPECT_EQ(ErrorOf([&] { session->sequence_state()->RewindTo(2); }).first, E_INVALIDARG);
  EXPECT_EQ(session->sequence_state()->position(), kPrompt.size() + kFollowing.size());
  session->sequence_state()->RewindTo(0);
  raw.set_caches({shapes.ZeroInput(1)});
  step(kPrompt);
}

SessionOptions CallerOwned() {
  SessionOptions options;
  options.state_pairs = {{1, 1}};
  options.caller_owns_state = true;
  options.sequence_capacity_hint = kCapacity;
  return options;
}

TEST_P(OrtDecoder, PrefillAndDecodeWithCallerOwnedStateEqualTheRawLoop) {
  const auto prefill = Open("task_model.onnx", CallerOwned());
  const auto decode = Open("task_decode.onnx", CallerOwned());
  EXPECT_EQ(prefill->sequence_state(), nullptr);
  const RawModel shapes(Path("task_model.onnx"));
  RawDecoder raw_prefill(Path("task_model.onnx"), 1, {shapes.ZeroInput(1)});
  RawDecoder raw_decode(Path("task_decode.onnx"), 1, {shapes.ZeroInput(1)});

  const HostTensor prompt = Ints({1, kPrompt.size()}, kPrompt);
  const HostTensor prompt_logits = Zeros(DType::kFloat32, {1, kPrompt.size(), 50});
  const HostTensor state_in = shapes.ZeroInput(1);
  const HostTensor state_out = shapes.ZeroInput(1);
  std::vector<OutputValue> outputs = {Into(prompt_logits), Into(state_out)};
  RunWith(*prefill, {Bound(prompt), Bound(state_in)}, outputs);
  EXPECT_EQ(prompt_logits.Values<float>(), raw_prefill.Step({prompt}).Values<float>());
  EXPECT_EQ(state_out.Values<uint8_t>(), raw_prefill.caches()[0].Values<uint8_t>());
  EXPECT_EQ(state_in.Values<uint8_t>(), std::vector<uint8_t>(state_in.view.bytes)) << "the input stays as it was";

  raw_decode.set_caches(raw_prefill.caches());
  const HostTensor logits = Zeros(DType::kFloat32, {1, 1, 50});
  const HostTensor decode_in = shapes.ZeroInput(1);
  const HostTensor decode_out = shapes.ZeroInput(1);
  std::memcpy(decode_in.view.data, state_out.view.data, state_out.view.bytes);
  for (const int64_t token : kFollowing) {
    const HostTensor id = Ints({1, 1}, {token});
    outputs = {Into(logits), Into(decode_out)};
    RunWith(*decode, {Bound(id), Bound(decode_in)}, outputs);
    EXPECT_EQ(logits.Values<float>(), raw_decode.Step({id}).Values<float>());
    std::memcpy(decode_in.view.data, decode_out.view.data, decode_out.view.bytes);
  }
}

TEST_P(OrtDecoder, CallerOwnedStateWithoutABoundOutputStaysInThePairedInput) {
  const auto session = Open("task_model.onnx", CallerOwned());
  const RawModel shapes(Path("task_model.onnx"));
  RawDecoder raw(Path("task_model.onnx"), 1, {shapes.ZeroInput(1)});
  const HostTensor state = shapes.ZeroInput(1);
  for (const int64_t token : kFollowing) {
    const HostTensor id = Ints({1, 1}, {token});
    std::vector<OutputValue> outputs = {Wanted(), Wanted()};
    RunWith(*session, {Bound(id), Bound(state)}, outputs);
    ExpectSame(outputs[0].produced, raw.Step({id}));
    EXPECT_EQ(state.Values<uint8_t>(), raw.caches()[0].Values<uint8_t>());
    EXPECT_EQ(outputs[1].produced.view.data, state.view.data) << "the input tensor is reported as the output";
  }
}

TEST_P(OrtDecoder, CallerOwnedStateIsUntouchedByAFailedRun) {
  const auto session = Open("task_model.onnx", CallerOwned());
  const HostTensor state = Zeros(Type(), {1, 9, kCapacity, 8});
  const HostTensor id = Ints({1, 1}, {100000});
  std::vector<OutputValue> outputs = {Wanted(), OutputValue{}};
  EXPECT_TRUE(FAILED(ErrorOf([&] { RunWith(*session, {Bound(id), Bound(state)}, outputs); }).first));
  EXPECT_EQ(state.Values<uint8_t>(), std::vector<uint8_t>(state.view.bytes));
  EXPECT_EQ(ErrorOf([&] {
              RunWith(*session, {Bound(id), InputValue{}}, outputs);
            }).first,
            E_INVALIDARG)
      << "no state bound";
}

INSTANTIATE_TEST_SUITE_P(Types, OrtDecoder, testing::Values("float32", "float16"),
                         [](const testing::TestParamInfo<const char*>& type) { return std::string(type.param); });

}  // namespace
}  // namespace owml::test
