// What the text generation task costs for each token over an application's own loop of Run calls, with the highest
// logits alone where the pipeline gives them and with whole rows: same model, same prompt, greedy, in turns.
//
//   task_overhead MODEL.gguf [TURNS]
#include <WinMLRuntimeRAII.h>
#include <WinMLTasks.h>
#include <WinMLTokenizer.h>
#include <wrl/client.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <openwinml/strings.hpp>
#include <string>
#include <vector>
#include <winml/tasks/text_generation/TextGeneration.hpp>

#include "base/cpu_info.h"

namespace {

using Microsoft::WRL::ComPtr;
using Clock = std::chrono::steady_clock;

constexpr UINT32 kTokens = 128;

struct Loaded {
  WinML::Stage stage;
  WinML::Pipeline pipeline;
};

Loaded Load(const WinML::Runtime& runtime, const WinML::Model& model, const WinML::ExecutionTarget& cpu) {
  const WinML::PipelineBuilder builder = runtime.CreatePipelineBuilder();
  Loaded loaded;
  loaded.stage = builder.AddModelStage(model, cpu);
  loaded.stage.As<WinML::StatefulStageOptions>().SetSequenceCapacityHint(512);
  loaded.pipeline = builder.Build();
  return loaded;
}

double Microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// An application's loop over the runtime alone: tensor in, logits out, the likeliest token.
class Raw {
 public:
  Raw(Loaded loaded, const WinML::ExecutionTarget& cpu)
      : loaded_(std::move(loaded)), tensors_(cpu.As<WinML::RawTensorFactory>()) {
    loaded_.stage.RequestOutput(0);
  }

  // Microseconds of each token behind the first.
  double PerToken(const std::vector<UINT32>& prompt, std::vector<UINT32>* tokens) {
    loaded_.pipeline.ResetExecutionState();
    tokens->assign(1, Likeliest(prompt));
    const auto begin = Clock::now();
    while (tokens->size() < kTokens) tokens->push_back(Likeliest({tokens->back()}));
    return Microseconds(Clock::now() - begin) / (kTokens - 1);
  }

 private:
  UINT32 Likeliest(const std::vector<UINT32>& tokens) {
    const UINT64 shape[] = {1, tokens.size()};
    const WINML_TENSOR_DESC desc = {WINML_TENSOR_DATA_TYPE_INT32, 2, shape};
    loaded_.stage.BindInput(0, tensors_.CreateTensor(desc, tokens.data(), tokens.size() * sizeof(UINT32)));
    loaded_.pipeline.Run();
    const WinML::Tensor logits = loaded_.stage.GetOutput(0);
    const WinML::TensorDataLock lock = logits.Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE);
    BYTE* data = nullptr;
    UINT64 size = 0;
    lock.GetData(data, size);
    const auto* row = reinterpret_cast<const float*>(data);
    return static_cast<UINT32>(std::max_element(row, row + size / sizeof(float)) - row);
  }

  Loaded loaded_;
  WinML::RawTensorFactory tensors_;
};

// A pipeline that runs and offers nothing else. Lives as long as the task over it.
class PlainPipeline final : public IWinMLPipeline {
 public:
  explicit PlainPipeline(IWinMLPipeline* pipeline) : pipeline_(pipeline) {}
  virtual ~PlainPipeline() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    const bool found = iid == __uuidof(IUnknown) || iid == __uuidof(IWinMLPipeline);
    *object = found ? this : nullptr;
    return found ? S_OK : E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 2; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE Run() override { return pipeline_->Run(); }
  HRESULT STDMETHODCALLTYPE ResetExecutionState() override { return pipeline_->ResetExecutionState(); }

 private:
  const ComPtr<IWinMLPipeline> pipeline_;
};

class Task {
 public:
  Task(const WinML::Runtime& runtime, Loaded loaded, const WinML::ExecutionTarget& cpu, IWinMLTokenizer* tokenizer,
       bool rows_only)
      : loaded_(std::move(loaded)), plain_(loaded_.pipeline.Get()) {
    winml::tasks::text_generation::TextGenerationArguments arguments;
    arguments.runtime = runtime.Get();
    arguments.pipeline = rows_only ? &plain_ : loaded_.pipeline.Get();
    arguments.tokenInput = {loaded_.stage.Get(), 0};
    arguments.output = {loaded_.stage.Get(), 0, WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS};
    arguments.stateOwnerStage = loaded_.stage.Get();
    arguments.tokenTarget = cpu.Get();
    arguments.tokenizer = tokenizer;
    WinML::Check(winml::tasks::text_generation::BuildTextGeneration(arguments, text_), "BuildTextGeneration");
  }
  ~Task() { text_.session->Close(); }

  double PerToken(const std::vector<UINT32>& prompt, std::vector<UINT32>* tokens) {
    ComPtr<IWinMLTextGenerationPullStream> stream;
    WinML::Check(text_.session->GenerateTokens(static_cast<UINT32>(prompt.size()), prompt.data(), text_.options.Get(),
                                               nullptr, stream.GetAddressOf()),
                 "GenerateTokens");
    tokens->clear();
    Clock::time_point begin;
    for (;;) {
      auto status = WINML_TEXT_GENERATION_READ_STATUS_COMPLETED;
      UINT32 token = 0;
      LPCWSTR fragment = nullptr;
      WinML::Check(stream->ReadNext(&status, &token, &fragment), "ReadNext");
      if (status == WINML_TEXT_GENERATION_READ_STATUS_COMPLETED) break;
      if (tokens->empty()) begin = Clock::now();
      tokens->push_back(token);
      if (tokens->size() == kTokens) break;
    }
    const double time = Microseconds(Clock::now() - begin) / static_cast<double>(tokens->size() - 1);
    WinML::Check(stream->Close(), "Close");
    return time;
  }

 private:
  Loaded loaded_;
  PlainPipeline plain_;
  winml::tasks::text_generation::TextGeneration text_;
};

void Compare(const std::wstring& path, int turns) {
  const WinML::Runtime runtime = WinML::Runtime::Create();
  const WinML::ExecutionTarget cpu = runtime.CreateCpuExecutionTarget();
  const WinML::Model model = runtime.LoadModelFromFile(path);
  ComPtr<IWinMLTokenizer> tokenizer;
  WinML::Check(WinMLCreateTokenizerFromFile(path.c_str(), tokenizer.GetAddressOf()), "WinMLCreateTokenizerFromFile");
  UINT32 count = 0;
  UINT32* ids = nullptr;
  WinML::Check(tokenizer->Encode(L"Once upon a time, in a village by the sea, there lived",
                                 WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS, &count, &ids),
               "Encode");
  const WinML::TaskMemory<UINT32> owned(ids);
  const std::vector<UINT32> prompt(ids, ids + count);

  Raw raw(Load(runtime, model, cpu), cpu);
  Task rows(runtime, Load(runtime, model, cpu), cpu, tokenizer.Get(), /*rows_only=*/true);
  Task task(runtime, Load(runtime, model, cpu), cpu, tokenizer.Get(), /*rows_only=*/false);
  std::vector<UINT32> from_raw, from_rows, from_task;
  std::vector<double> raw_times, rows_times, task_times, over_raw, over_rows;
  for (int turn = 0; turn < turns; ++turn) {
    raw_times.push_back(raw.PerToken(prompt, &from_raw));
    rows_times.push_back(rows.PerToken(prompt, &from_rows));
    task_times.push_back(task.PerToken(prompt, &from_task));
    over_raw.push_back(task_times.back() - raw_times.back());
    over_rows.push_back(task_times.back() - rows_times.back());
    if (from_task.size() < kTokens || from_raw != from_task || from_rows != from_task) {
      std::fprintf(stderr, "the ways gave different tokens\n");
      std::exit(1);
    }
  }
  std::printf("%s, %u threads\n", owml::CpuDescription().c_str(), owml::UsableCpuCount());
  std::printf("median of %d turns of %u tokens, in us a token: Run loop %.1f, task on whole rows %.1f, task %.1f\n",
              turns, kTokens, Median(raw_times), Median(rows_times), Median(task_times));
  std::printf("the task over the Run loop %+.1f (%+.2f %%), over the task on whole rows %+.1f (%+.2f %%)\n",
              Median(over_raw), Median(over_raw) / Median(raw_times) * 100, Median(over_rows),
              Median(over_rows) / Median(rows_times) * 100);
}

}  // namespace

int main(int argc, char** argv) {
  const char* model = argc > 1 ? argv[1] : OWML_MODEL_SMOLLM2;
  if (!*model) {
    std::fprintf(stderr, "usage: task_overhead MODEL.gguf [TURNS]\n");
    return 2;
  }
  try {
    Compare(openwinml::ToWide(model), argc > 2 ? std::max(1, std::atoi(argv[2])) : 7);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "task_overhead: %s\n", error.what());
    return 1;
  }
}
