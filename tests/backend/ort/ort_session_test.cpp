// Runs: binding without copies, checks before the model is run, outputs of every kind, session options.
#include <gmock/gmock.h>
#include <openwinml/log.h>

#include <cmath>

#include "backend/ort/ort_fixture.h"
#include "base/cpu_info.h"
#include "support/onnx_writer.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

// y = -x, float [rows, 4] with open rows.
std::string NegModel() {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {"rows", 4}).Output("y", kOnnxFloat, {"rows", 4}).Node(OnnxNode("Neg", {"x"}, {"y"}));
  return model.Bytes();
}

// y = x; a transposition of one axis, which ONNX Runtime has for every type.
std::string CopyModel(int32_t type, int64_t count) {
  OnnxWriter model;
  model.opset = 21;
  model.ir_version = 10;
  model.Input("x", type, {count}).Output("y", type, {count}).Node(OnnxNode("Transpose", {"x"}, {"y"}));
  return model.Bytes();
}

TEST(OrtSession, LeavesAnOutputInMemoryThatOutlivesTheSession) {
  auto session = Session(NegModel());
  const HostTensor x = Floats({1, 4}, {1, 2, 3, 4});
  const TensorBuffer y = FirstOutput(*session, {Bound(x)});
  session.reset();
  EXPECT_EQ(y.view.dims, (Dims{1, 4}));
  EXPECT_EQ(ValuesOf<float>(y.view), (std::vector<float>{-1, -2, -3, -4}));
}

TEST(OrtSession, WritesABoundOutputInPlace) {
  const auto session = Session(NegModel());
  const HostTensor x = Floats({1, 4}, {1, 2, 3, 4});
  const HostTensor y = Floats({1, 4}, {0, 0, 0, 0});
  std::vector<OutputValue> outputs = {Into(y)};
  for (int run = 0; run < 3; ++run) RunWith(*session, {Bound(x)}, outputs);
  EXPECT_EQ(y.Values<float>(), (std::vector<float>{-1, -2, -3, -4}));
  EXPECT_EQ(outputs[0].produced.owner, nullptr);
}

TEST(OrtSession, ReadsTheBoundInputAnewInEachRun) {
  const auto session = Session(NegModel());
  const HostTensor x = Floats({1, 4}, {1, 2, 3, 4});
  FirstOutput(*session, {Bound(x)});
  const float changed = 9;
  std::memcpy(x.view.data, &changed, sizeof changed);
  EXPECT_EQ(ValuesOf<float>(FirstOutput(*session, {Bound(x)}).view)[0], -9);
}

TEST(OrtSession, FollowsAChangingFreeDimension) {
  const auto session = Session(NegModel());
  for (const uint64_t rows : {3u, 1u, 0u, 2u}) {
    const HostTensor x = Floats({rows, 4}, std::vector<float>(rows * 4, 1.5f));
    const TensorBuffer y = FirstOutput(*session, {Bound(x)});
    EXPECT_EQ(y.view.dims, (Dims{rows, 4}));
    EXPECT_EQ(ValuesOf<float>(y.view), std::vector<float>(rows * 4, -1.5f));
  }
}

TEST(OrtSession, RefusesAnInputOfAnotherTypeRankOrExtentAndSaysWhatItExpects) {
  const auto session = Session(NegModel());
  const std::vector<std::pair<HostTensor, std::string>> wrong = {
      {Zeros(DType::kInt8, {2, 4}), "input 0 'x' expects float32 [?, 4], got int8 [2, 4]"},
      {Zeros(DType::kFloat32, {4}), "input 0 'x' expects float32 [?, 4], got float32 [4]"},
      {Zeros(DType::kFloat32, {2, 5}), "input 0 'x' expects float32 [?, 4], got float32 [2, 5]"},
      {Zeros(DType::kFloat32, {2, 4, 1}), "input 0 'x' expects float32 [?, 4], got float32 [2, 4, 1]"},
  };
  for (const auto& [tensor, sentence] : wrong) {
    const auto error = ErrorOf([&, &input = tensor] { FirstOutput(*session, {Bound(input)}); });
    EXPECT_EQ(error.first, E_INVALIDARG);
    EXPECT_EQ(error.second, sentence);
  }
}

TEST(OrtSession, RefusesAViewWhoseBytesDoNotFitItsShape) {
  const auto session = Session(NegModel());
  HostTensor x = Floats({1, 4}, {1, 2, 3, 4});
  x.view.dims = {1000000, 4};
  EXPECT_EQ(ErrorOf([&] { FirstOutput(*session, {Bound(x)}); }).first, E_INVALIDARG);
  x.view.dims = {UINT64_MAX / 2, 4};
  EXPECT_EQ(ErrorOf([&] { FirstOutput(*session, {Bound(x)}); }).first, E_INVALIDARG);
}

TEST(OrtSession, RefusesADestinationThatDoesNotFitAndWritesNothing) {
  const auto session = Session(NegModel());
  const HostTensor x = Floats({1, 4}, {1, 2, 3, 4});
  for (const HostTensor& y :
       {Zeros(DType::kFloat64, {1, 4}), Zeros(DType::kFloat32, {1, 5}), Zeros(DType::kFloat32, {2, 4})}) {
    std::vector<OutputValue> outputs = {Into(y)};
    EXPECT_EQ(ErrorOf([&] { RunWith(*session, {Bound(x)}, outputs); }).first, E_INVALIDARG)
        << ToString(y.view.dtype, y.view.dims);
    EXPECT_EQ(y.Values<uint8_t>(), std::vector<uint8_t>(y.view.bytes));
  }
}

TEST(OrtSession, NamesAnInputThatIsNotBound) {
  const auto session = Session(NegModel());
  const auto [code, sentence] = ErrorOf([&] { FirstOutput(*session, {InputValue{}}); });
  EXPECT_EQ(code, E_INVALIDARG);
  EXPECT_THAT(sentence, HasSubstr("input 0 'x'"));
}

TEST(OrtSession, SkipsOutputsThatNobodyWants) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {1}).Output("a", kOnnxFloat, {1}).Output("b", kOnnxFloat, {1});
  model.Node(OnnxNode("Neg", {"x"}, {"a"})).Node(OnnxNode("Abs", {"a"}, {"b"}));
  const auto session = Session(model.Bytes());
  const HostTensor x = Floats({1}, {3});
  std::vector<OutputValue> outputs = {OutputValue{}, Wanted()};
  RunWith(*session, {Bound(x)}, outputs);
  EXPECT_EQ(outputs[0].produced.view.data, nullptr);
  EXPECT_EQ(ValuesOf<float>(outputs[1].produced.view), (std::vector<float>{3}));
  std::vector<OutputValue> none(2);
  RunWith(*session, {Bound(x)}, none);
}

TEST(OrtSession, CarriesEveryElementTypeOfTheApi) {
  const std::vector<std::pair<int32_t, DType>> types = {
      {1, DType::kFloat32}, {10, DType::kFloat16}, {16, DType::kBFloat16}, {3, DType::kInt8},    {2, DType::kUInt8},
      {5, DType::kInt16},   {4, DType::kUInt16},   {6, DType::kInt32},     {12, DType::kUInt32}, {7, DType::kInt64},
      {13, DType::kUInt64}, {11, DType::kFloat64}, {9, DType::kBool},      {22, DType::kInt4},   {21, DType::kUInt4}};
  for (const auto& [onnx, dtype] : types) {
    // Five elements: the packed types end in half a byte.
    const HostTensor x = Zeros(dtype, {5});
    for (uint64_t i = 0; i < x.view.bytes; ++i)
      x.view.data[i] = static_cast<std::byte>(dtype == DType::kBool ? i % 2 : i + 1);
    if (BytesPerElement(dtype) == 0) x.view.data[x.view.bytes - 1] = std::byte{7};
    const auto session = Session(CopyModel(onnx, 5));
    EXPECT_EQ(session->schema().inputs[0].dtype, dtype);
    const TensorBuffer left = FirstOutput(*session, {Bound(x)});
    EXPECT_EQ(left.view.dtype, dtype);
    EXPECT_EQ(ValuesOf<uint8_t>(left.view), x.Values<uint8_t>()) << Name(dtype);
    const HostTensor y = Zeros(dtype, {5});
    std::vector<OutputValue> outputs = {Into(y)};
    RunWith(*session, {Bound(x)}, outputs);
    EXPECT_EQ(y.Values<uint8_t>(), x.Values<uint8_t>()) << Name(dtype);
  }
}

TEST(OrtSession, CopiesAnInputThatTheModelHandsStraightToAnOutput) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {"n"}).Output("x", kOnnxFloat, {"n"}).Output("y", kOnnxFloat, {"n"});
  model.Node(OnnxNode("Neg", {"x"}, {"y"}));
  const auto session = Session(model.Bytes());
  const HostTensor x = Floats({2}, {1, 2});
  const HostTensor copy = Floats({2}, {0, 0});
  std::vector<OutputValue> bound = {Into(copy), Wanted()};
  RunWith(*session, {Bound(x)}, bound);
  EXPECT_EQ(copy.Values<float>(), (std::vector<float>{1, 2}));
  std::vector<OutputValue> left = {Wanted(), OutputValue{}};
  RunWith(*session, {Bound(x)}, left);
  EXPECT_NE(left[0].produced.view.data, x.view.data);
  EXPECT_EQ(ValuesOf<float>(left[0].produced.view), (std::vector<float>{1, 2}));
  std::vector<OutputValue> wrong = {Into(Floats({3}, {0, 0, 0})), OutputValue{}};
  EXPECT_EQ(ErrorOf([&] { RunWith(*session, {Bound(x)}, wrong); }).first, E_INVALIDARG);
}

TEST(OrtSession, AcceptsAnInputWhoseRankTheModelLeavesOpen) {
  OnnxWriter model;
  model.InputValue(
      ProtobufWriter().Bytes(1, "x").Message(2, ProtobufWriter().Message(1, ProtobufWriter().Varint(1, kOnnxFloat))));
  model.graph().Message(12, ProtobufWriter().Bytes(1, "y").Message(
                                2, ProtobufWriter().Message(1, ProtobufWriter().Varint(1, kOnnxFloat))));
  model.Node(OnnxNode("Neg", {"x"}, {"y"}));
  const auto session = Session(model.Bytes());
  EXPECT_EQ(FirstOutput(*session, {Bound(Floats({2, 1}, {1, 2}))}).view.dims, (Dims{2, 1}));
  EXPECT_EQ(FirstOutput(*session, {Bound(Floats({}, {1}))}).view.dims, (Dims{}));
}

TEST(OrtSession, ReportsAFailureOfTheModelItself) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {"n"}).Input("shape", kOnnxInt64, {1}).Output("y", kOnnxFloat, {"m"});
  model.Node(OnnxNode("Reshape", {"x", "shape"}, {"y"}));
  const auto session = Session(model.Bytes());
  const auto [code, sentence] = ErrorOf([&] {
    FirstOutput(*session, {Bound(Floats({2}, {1, 2})), Bound(Ints({1}, {3}))});
  });
  EXPECT_TRUE(FAILED(code));
  EXPECT_THAT(sentence, HasSubstr("running the model failed"));
  EXPECT_EQ(FirstOutput(*session, {Bound(Floats({2}, {1, 2})), Bound(Ints({1}, {2}))}).view.dims, (Dims{2}))
      << "and goes on";
}

TEST(OrtSession, FixesSymbolicDimensions) {
  SessionOptions options;
  options.dimension_overrides = {{"rows", 2}, {"no such dimension", 7}};
  const auto session = Session(NegModel(), options);
  EXPECT_EQ(session->schema().inputs[0].dims, (Dims{2, 4}));
  EXPECT_EQ(session->schema().outputs[0].dims, (Dims{2, 4}));
  EXPECT_EQ(ErrorOf([&] { FirstOutput(*session, {Bound(Zeros(DType::kFloat32, {3, 4}))}); }).first, E_INVALIDARG);
}

TEST(OrtSession, ReportsWhatIsInEffect) {
  const SessionReport report = Session(NegModel())->report();
  EXPECT_THAT(report.engine, HasSubstr("onnxruntime 1."));
  EXPECT_THAT(report.engine_reason, HasSubstr("libonnxruntime"));
  EXPECT_EQ(report.provider, "CPUExecutionProvider");
  EXPECT_EQ(report.device, DeviceKind::kCpu);
  EXPECT_EQ(report.intra_op_threads, UsableCpuCount());
  EXPECT_EQ(report.inter_op_threads, 1u);
  EXPECT_EQ(report.optimization_level, OptimizationLevel::kAll);

  SessionOptions options;
  options.intra_op_threads = 3;
  options.inter_op_threads = 2;
  options.optimization_level = OptimizationLevel::kBasic;
  const SessionReport chosen = Session(NegModel(), options)->report();
  EXPECT_EQ(chosen.intra_op_threads, 3u);
  EXPECT_EQ(chosen.inter_op_threads, 2u);
  EXPECT_EQ(chosen.optimization_level, OptimizationLevel::kBasic);
}

TEST(OrtSession, RefusesOptionsThatOnnxStagesLack) {
  const auto code_with = [](const std::function<void(SessionOptions&)>& change) {
    SessionOptions options;
    change(options);
    return ErrorOf([&] { Session(NegModel(), options); }).first;
  };
  EXPECT_EQ(code_with([](SessionOptions& o) { o.engine = Engine::kLlama; }), kNotSupported);
  EXPECT_EQ(code_with([](SessionOptions& o) { o.kv_cache_type = KvCacheType::kF16; }), kNotSupported);
  EXPECT_EQ(code_with([](SessionOptions& o) { o.batch_size = 8; }), kNotSupported);
  EXPECT_EQ(code_with([](SessionOptions& o) { o.draft_predictor_enabled = true; }), E_INVALIDARG);
  EXPECT_EQ(code_with([](SessionOptions& o) { o.draft_predictor_path = "draft.gguf"; }), E_INVALIDARG);
  EXPECT_EQ(code_with([](SessionOptions& o) {
              o.draft_predictor_enabled = true;
              o.draft_token_limit = 4;
              o.draft_predictor_path = "draft.gguf";
            }),
            kNotSupported);
  EXPECT_EQ(code_with([](SessionOptions& o) { o.provider_options = {{"a", "b"}}; }), E_INVALIDARG) << "no pin";
  EXPECT_EQ(code_with([](SessionOptions& o) {
              o.session_config = {{"session.log_severity_level", "loud"}};
            }),
            E_INVALIDARG);
}

TEST(OrtSession, PinsTheCpuProviderAndFindsNoOther) {
  SessionOptions options;
  options.provider = "CPUExecutionProvider";
  EXPECT_EQ(Session(NegModel(), options)->report().provider, "CPUExecutionProvider");
  options.provider = "NoSuchExecutionProvider";
  const auto [code, sentence] = ErrorOf([&] { Session(NegModel(), options); });
  EXPECT_EQ(code, HRESULT_FROM_WIN32(ERROR_NOT_FOUND));
  EXPECT_THAT(sentence, AllOf(HasSubstr("NoSuchExecutionProvider"), HasSubstr("CPUExecutionProvider")));
}

TEST(OrtSession, NeverPutsAGpuOrNpuRequestOnTheCpu) {
  if (!MakeOrtBackend()->Devices().empty()) GTEST_SKIP() << "this machine has an accelerator";
  for (const DeviceKind kind : {DeviceKind::kGpu, DeviceKind::kNpu}) {
    SessionOptions options;
    options.device = kind;
    EXPECT_EQ(ErrorOf([&] { Session(NegModel(), options); }).first, HRESULT_FROM_WIN32(ERROR_NOT_FOUND));
  }
}

TEST(OrtSession, WritesAProfileWhenTheSessionEntryAsksForOne) {
  const TemporaryFolder folder;
  SessionOptions options;
  options.session_config = {{"session.enable_profiling", (folder.path() / "profile").string()},
                            {"unknown.key", "passed through"}};
  auto session = Session(NegModel(), options);
  FirstOutput(*session, {Bound(Zeros(DType::kFloat32, {1, 4}))});
  session.reset();
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path().filename().string().rfind("profile", 0), 0u);
    ++files;
  }
  EXPECT_EQ(files, 1u);
}

TEST(OrtSession, SendsOnnxRuntimesLogToOurSink) {
  std::string collected;
  OwmlLogSetLevel(OWML_LOG_LEVEL_DEBUG);
  OwmlLogSetSink([](void* context, OwmlLogLevel, const char* component,
                    const char*) { *static_cast<std::string*>(context) += component; },
                 &collected);
  SessionOptions options;
  options.session_config = {{"session.log_severity_level", "0"}};
  Session(NegModel(), options);
  OwmlLogSetSink(nullptr, nullptr);
  OwmlLogSetLevel(OWML_LOG_LEVEL_OFF);
  EXPECT_THAT(collected, HasSubstr("ort"));
}

}  // namespace
}  // namespace owml::test
