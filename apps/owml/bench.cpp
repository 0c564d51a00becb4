// `owml bench`: prompt and generation rates of a language model, defined as llama-bench defines them.
// pp N: N tokens from an empty context in one run; tg N: N single-token runs from an empty context; tokens a second.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "base/cpu_info.h"
#include "bench_profile.h"
#include "bench_subject.h"
#include "commands.h"
#include "failure.h"
#include "interrupt.h"
#include "json_output.h"
#include "machine_limits.h"
#include "model_cost.h"
#include "peak_memory.h"
#include "stage_options.h"
#include "terminal.h"

namespace owml::cli {
namespace {

constexpr char kTableOnly[] = "-";

// An engine's threads may spin for a while after its turn and would take the other's processors.
void WaitForIdleThreads() {
  using namespace std::chrono_literals;
  constexpr auto kLook = 20ms;
  constexpr int kMostLooks = 50;
  for (int look = 0; look < kMostLooks; ++look) {
    const std::clock_t before = std::clock();  // of all threads
    std::this_thread::sleep_for(kLook);
    if (std::clock() - before < CLOCKS_PER_SEC / 1000) return;
  }
}

class Bench {
 public:
  explicit Bench(const BenchOptions& options) : options_(options) {
    subjects_.push_back(std::make_unique<Subject>(options, options.engine));
    if (!options.compared.empty()) subjects_.push_back(std::make_unique<Subject>(options, options.compared));
    cost_ = CostOfToken(options.model);
  }

  // Engines and limits take turns, so that all see the same disturbances.
  int Execute(bool as_json) {
    InterruptScope interrupts;
    for (const auto& subject : subjects_) {
      if (subjects_.size() > 1) WaitForIdleThreads();
      subject->WarmUp();
    }
    peak_memory_ = PeakMemoryBytes();
    std::optional<LimitProbe> probe;
    if (!options_.stage.gpu) probe.emplace(subjects_[0]->Threads());  // the CPU's limits are none for a GPU
    for (uint32_t repetition = 0; repetition < options_.repetitions && !InterruptScope::Requested(); ++repetition) {
      if (subjects_.size() > 1) WaitForIdleThreads();
      if (probe) limits_.push_back(probe->Measure());
      for (const auto& subject : subjects_) {
        if (subjects_.size() > 1) WaitForIdleThreads();
        subject->Sample(cost_, probe ? &limits_.back() : nullptr);
      }
    }
    if (!InterruptScope::Requested() && !options_.profile.empty()) {
      subjects_[0]->TakeProfile();
      if (options_.profile != kTableOnly) WriteTrace(options_.profile, subjects_[0]->profiles());
    }
    if (as_json) {
      ReportJson();
    } else {
      ReportTable();
    }
    return InterruptScope::Requested() ? kInterrupted : kOk;
  }

 private:
  // How many times the first engine is as fast as the second.
  double Ratio(char kind) const {
    const double other = subjects_[1]->MedianRate(kind);
    return other > 0 ? subjects_[0]->MedianRate(kind) / other : 0;
  }

  // Medians.
  double ReadLimit() const {
    return LimitOf([](const MachineLimits& limits) { return limits.read_gigabytes_per_second; });
  }
  double MultiplyLimit() const {
    return LimitOf([](const MachineLimits& limits) { return limits.int8_gops; });
  }
  double LimitOf(double (*member)(const MachineLimits&)) const {
    std::vector<double> values;
    for (const MachineLimits& limits : limits_) values.push_back(member(limits));
    return MedianOf(std::move(values));
  }

  void ReportJson() const {
    Json report = subjects_[0]->ToJson();
    report["model"] = options_.model;
    report["bytes"] = std::filesystem::file_size(options_.model);
    report["cpu"] = CpuDescription();
    report["peak_memory_bytes"] = peak_memory_;
    report["depth"] = options_.depth;
    if (!limits_.empty()) {
      report["isa"] = LimitIsa();
      report["read_bandwidth_gb_per_second"] = ReadLimit();
      report["int8_gops"] = MultiplyLimit();
    }
    if (subjects_.size() > 1) {
      report["compared"] = subjects_[1]->ToJson();
      if (options_.prompt_tokens) report["prompt_ratio"] = Ratio('p');
      if (options_.generated_tokens) report["generation_ratio"] = Ratio('t');
    }
    PrintJson(report);
  }

  void ReportTable() const {
    const uint32_t threads = subjects_[0]->Threads(), asked = options_.stage.threads;
    std::printf("%s, %u thread%s", CpuDescription().c_str(), threads, threads == 1 ? "" : "s");
    if (asked > threads) std::printf(" (%u were asked for; more than the usable processors would take turns)", asked);
    std::printf("\n");
    for (const auto& subject : subjects_) {
      std::printf("%s; keys and values in %s\n", subject->EngineText().c_str(), NameOf(subject->KvCache()));
    }
    if (!limits_.empty()) {
      std::printf("limits (%s): reads %.1f GB/s, multiplies %.0f GOPS in 8 bits\n", LimitIsa().c_str(), ReadLimit(),
                  MultiplyLimit());
    }
    if (peak_memory_ > 0) std::printf("memory: %s at most\n", HumanBytes(peak_memory_).c_str());
    std::printf("\n");
    Table table({"model", "size", "engine", "test", "tokens/s", "deviation", "of the limit"});
    table.AlignRight(1).AlignRight(4).AlignRight(5).AlignRight(6);
    for (const auto& subject : subjects_) {
      for (const Rate& rate : subject->rates()) {
        table.Add({std::filesystem::path(options_.model).filename().string(),
                   HumanBytes(std::filesystem::file_size(options_.model)), subject->EngineName(), rate.test,
                   fmt::format("{:.2f}", rate.mean()), fmt::format("{:.2f}", rate.deviation()),
                   rate.shares.empty() ? "" : fmt::format("{:.0f} %", 100 * rate.share())});
      }
    }
    table.Print(stdout);
    ReportComparison();
    for (const TestProfile& profile : subjects_[0]->profiles()) PrintProfile(profile);
  }

  void ReportComparison() const {
    if (subjects_.size() < 2) return;
    std::printf("\n%s against %s, medians:", subjects_[0]->EngineName().c_str(), subjects_[1]->EngineName().c_str());
    if (options_.prompt_tokens) std::printf(" prompt %.2f times", Ratio('p'));
    if (options_.generated_tokens) std::printf(" generation %.2f times", Ratio('t'));
    std::printf("\n");
  }

  const BenchOptions& options_;
  ModelCost cost_;
  std::vector<std::unique_ptr<Subject>> subjects_;
  std::vector<MachineLimits> limits_;  // of each repetition
  uint64_t peak_memory_ = 0;           // of the process, before the limits are measured
};

}  // namespace

void AddBench(CLI::App& app, const Globals& globals, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* verb = app.add_subcommand("bench", "Measure tokens a second");
  verb->add_option("MODEL", options->model, "A .gguf file")->required();
  verb->add_option("-p,--prompt", options->prompt_tokens, "Prompt tokens; 0 skips the test")
      ->check(CLI::Range(0u, 1048576u))
      ->capture_default_str();
  verb->add_option("-n,--generate", options->generated_tokens, "Generated tokens; 0 skips the test")
      ->check(CLI::Range(0u, 1048576u))
      ->capture_default_str();
  verb->add_option("-r,--repetitions", options->repetitions,
                   "Measured runs of each test, after one that does not count")
      ->check(CLI::Range(1u, 10000u))
      ->capture_default_str();
  verb->add_option("--depth", options->depth, "Tokens that are in the context before each test")
      ->check(CLI::Range(0u, 1048576u))
      ->capture_default_str();
  verb->add_option("--engine", options->engine, "auto, native or llama; stands above OWML_ENGINE")
      ->check(CLI::IsMember({"auto", "native", "llama"}))
      ->capture_default_str();
  verb->add_option("--compare", options->compared, "Another engine, native or llama, in turns with the first")
      ->check(CLI::IsMember({"native", "llama"}));
  verb->add_flag("--profile{" + std::string(kTableOnly) + "}", options->profile,
                 "Where the time goes, by operation, in one run more of each test; --profile=FILE also writes a trace "
                 "for chrome://tracing and Perfetto");
  verb->add_flag("--gpu", options->stage.gpu, "Run on a GPU, where an engine offers one; limits are not measured then");
  verb->add_option("-b,--batch", options->stage.batch_size, "Tokens of one batch; 0 = the engine's default")
      ->check(CLI::Range(0u, 1048576u))
      ->capture_default_str();
  AddStageOptions(*verb, options->stage);
  verb->footer(
      "ppN: N random tokens in one run. tgN: N runs of one token. Both from an empty context, or behind --depth "
      "tokens.\n"
      "The limits are what the same threads read and multiply without a model, measured before each repetition: ppN is "
      "held against multiplications (those of the layers' matrices), tgN against reads (of all that a token reads).\n"
      "GOPS of a profile are 10^9 multiplications and additions, GB/s count weights and cache, both in a second.\n\n"
      "Examples:\n"
      "  owml bench model.gguf --engine native --compare llama\n"
      "  owml bench model.gguf\n"
      "  owml bench model.gguf --profile=trace.json\n"
      "  owml bench model.gguf -p 512 -n 0 -r 10 -t 2");
  verb->callback(
      [options, &globals, &action] { action = [options, &globals] { return Bench(*options).Execute(globals.json); }; });
}

}  // namespace owml::cli
