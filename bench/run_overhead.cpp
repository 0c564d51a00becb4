// Time of IWinMLPipeline::Run over a raw ONNX Runtime run with bound inputs and outputs, on a model of one node and on
// one of a millisecond or more. Both sides run in turn, so that clock changes and neighbours hit them alike; the
// difference is the median of the differences inside each turn.
//
//   run_overhead [seconds for each model, default 3]
#include <WinMLRuntime.h>
#include <WinMLTensorFactory.h>
#include <openwinml/stage_options.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/ort/ort_backend.h"
#include "backend/ort/ort_handles.h"
#include "backend/ort/ort_tensor.h"
#include "backend/registry.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "com/guard.h"
#include "runtime/runtime.h"
#include "support/onnx_writer.h"

namespace owml::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Runs between two looks at the clock; medians are taken over batches.
constexpr int kBatch = 20;

// On floats [rows, width]: y = x + w, or `layers` times x * matrix of [width, width].
std::string Model(int64_t rows, int64_t width, int layers) {
  test::OnnxWriter model;
  model.Input("x", test::kOnnxFloat, {rows, width}).Output("y", test::kOnnxFloat, {rows, width});
  if (layers == 0) {
    model.Node(test::OnnxNode("Add", {"x", "w"}, {"y"}));
    model.Initializer(
        test::OnnxTensor("w", test::kOnnxFloat, {width}, std::string(static_cast<size_t>(width) * 4, '\0')));
    return model.Bytes();
  }
  model.Initializer(test::OnnxTensor("w", test::kOnnxFloat, {width, width},
                                     std::string(static_cast<size_t>(width * width) * 4, '\0')));
  std::string last = "x";
  for (int layer = 1; layer <= layers; ++layer) {
    const std::string next = layer == layers ? "y" : "h" + std::to_string(layer);
    model.Node(test::OnnxNode("MatMul", {last, "w"}, {next}));
    last = next;
  }
  return model.Bytes();
}

class Raw {
 public:
  Raw(const std::string& bytes, uint32_t threads, const TensorView& x, const TensorView& y) {
    auto options = Adopt<OrtSessionOptionsPtr>(Ort().CreateSessionOptions, "options");
    Check(Ort().SetIntraOpNumThreads(options.get(), static_cast<int>(threads)), "threads");
    session_ = Adopt<OrtSessionPtr>(
        [&](OrtSession** out) {
          return Ort().CreateSessionFromArray(LoadedOrtLibrary().environment, bytes.data(), bytes.size(), options.get(),
                                              out);
        },
        "session");
    x_.Point(x);
    y_.Point(y);
    Check(Ort().CreateIoBinding(session_.get(), &binding_), "binding");
    Check(Ort().BindInput(binding_, "x", x_.get()), "input");
    Check(Ort().BindOutput(binding_, "y", y_.get()), "output");
  }
  ~Raw() { Ort().ReleaseIoBinding(binding_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  void RunBinding() { Check(Ort().RunWithBinding(session_.get(), nullptr, binding_), "run"); }
  void RunValues() {
    const char* input = "x";
    const char* output = "y";
    const OrtValue* in = x_.get();
    OrtValue* out = y_.get();
    Check(Ort().Run(session_.get(), nullptr, &input, &in, 1, &output, 1, &out), "run");
  }

 private:
  OrtSessionPtr session_;
  OrtValueSlot x_;
  OrtValueSlot y_;
  OrtIoBinding* binding_ = nullptr;
};

// The same model in a pipeline of one stage, through the public interfaces.
class Ours {
 public:
  Ours(const std::string& bytes, const TensorView& x, const TensorView* y) {
    std::vector<std::shared_ptr<const Backend>> backends = {MakeOrtBackend()};
    runtime_ = MakeRuntime(std::make_shared<const Registry>(std::move(backends)));
    CheckResult(runtime_->LoadModelFromBuffer(reinterpret_cast<const BYTE*>(bytes.data()), bytes.size(), nullptr,
                                              model_.GetAddressOf()),
                "load");
    CheckResult(runtime_->CreateCpuExecutionTarget(target_.GetAddressOf()), "target");
    ComPtr<IWinMLPipelineBuilder> builder;
    CheckResult(runtime_->CreatePipelineBuilder(builder.GetAddressOf()), "builder");
    CheckResult(builder->AddModelStage(model_.Get(), target_.Get(), nullptr, stage_.GetAddressOf()), "stage");
    const auto options = Query<IOwmlStageOptions>(stage_.Get());
    CheckResult(options->SetIntraOpThreadCount(1), "threads");
    CheckResult(builder->Build(pipeline_.GetAddressOf()), "build");
    CheckResult(stage_->BindInput(0, Tensor(x).Get()), "input");
    if (y) {
      CheckResult(stage_->BindOutput(0, Tensor(*y).Get()), "output");
    } else {
      CheckResult(stage_->RequestOutput(0), "output");
    }
  }

  void Run() { CheckResult(pipeline_->Run(), "run"); }

 private:
  ComPtr<IWinMLTensor> Tensor(const TensorView& view) {
    const WINML_TENSOR_DESC desc = {static_cast<WINML_TENSOR_DATA_TYPE>(view.dtype),
                                    static_cast<UINT32>(view.dims.size()), view.dims.data()};
    ComPtr<IWinMLTensor> tensor;
    CheckResult(Query<IWinMLRawTensorFactory>(target_.Get())
                    ->CreateTensorFromRawBuffer(&desc, reinterpret_cast<BYTE*>(view.data), view.bytes,
                                                WINML_TENSOR_ACCESS_MODE_READWRITE, nullptr, tensor.GetAddressOf()),
                "tensor");
    return tensor;
  }

  ComPtr<IWinMLRuntime> runtime_;
  ComPtr<IWinMLModel> model_;
  ComPtr<IWinMLExecutionTarget> target_;
  ComPtr<IWinMLStage> stage_;
  ComPtr<IWinMLPipeline> pipeline_;
};

template <typename Call>
double MicrosecondsEach(Call&& call) {
  const auto start = Clock::now();
  for (int i = 0; i < kBatch; ++i) call();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kBatch;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Measure(const char* title, int64_t rows, int64_t width, int layers, double seconds) {
  const std::string bytes = Model(rows, width, layers);
  std::vector<float> x(static_cast<size_t>(rows * width), 1);
  std::vector<float> y(static_cast<size_t>(rows * width));
  const auto view = [rows, width](std::vector<float>& values) {
    return TensorView{DType::kFloat32,
                      {static_cast<uint64_t>(rows), static_cast<uint64_t>(width)},
                      reinterpret_cast<std::byte*>(values.data()),
                      values.size() * sizeof(float)};
  };
  Raw raw(bytes, 1, view(x), view(y));
  const TensorView destination = view(y);
  Ours bound(bytes, view(x), &destination);
  Ours left(bytes, view(x), nullptr);

  std::vector<double> base, values, ours_bound, ours_left;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (base.size() < 10 || Clock::now() < end) {
    base.push_back(MicrosecondsEach([&] { raw.RunBinding(); }));
    ours_bound.push_back(MicrosecondsEach([&] { bound.Run(); }));
    values.push_back(MicrosecondsEach([&] { raw.RunValues(); }));
    ours_left.push_back(MicrosecondsEach([&] { left.Run(); }));
  }
  const auto line = [&base](const char* name, const std::vector<double>& times) {
    std::vector<double> differences;
    for (size_t i = 0; i < times.size(); ++i) differences.push_back(times[i] - base[i]);
    const double difference = Median(differences);
    std::printf("  %-34s %10.2f us  %+8.2f us  %+7.2f %%\n", name, Median(times), difference,
                difference / Median(base) * 100);
  };
  std::printf("%s: median of %zu turns of %d runs\n", title, base.size(), kBatch);
  line("raw, RunWithBinding", base);
  line("raw, Run with bound values", values);
  line("IWinMLPipeline, outputs bound", ours_bound);
  line("IWinMLPipeline, outputs requested", ours_left);
}

}  // namespace
}  // namespace owml::bench

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  try {
    owml::LoadedOrtLibrary();
    std::printf("%s\n", owml::CpuDescription().c_str());
    owml::bench::Measure("one node", 1, 16, 0, seconds);
    owml::bench::Measure("a millisecond or more", 32, 256, 32, seconds);
  } catch (const owml::Error& error) {
    std::fprintf(stderr, "run_overhead: %s\n", error.what());
    return 1;
  }
  return 0;
}
