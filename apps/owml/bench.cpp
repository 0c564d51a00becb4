// `owml bench`: prompt and generation rates of a language model, defined as llama-bench defines them.
// pp N: N tokens from an empty context in one run; tg N: N single-token runs from an empty context; tokens a second.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>

#include "base/cpu_info.h"
#include "bench_profile.h"
#include "commands.h"
#include "failure.h"
#include "interrupt.h"
#include "json_output.h"
#include "language_session.h"
#include "machine_limits.h"
#include "terminal.h"

namespace owml::cli {
namespace {

struct BenchOptions {
  std::string model;
  std::string engine = "auto";
  std::string compared;  // another engine, or empty
  uint32_t prompt_tokens = 512;
  uint32_t generated_tokens = 128;
  uint32_t repetitions = 5;
  uint32_t depth = 0;
  std::string profile;  // where the trace goes; kTableOnly, or empty for no profile
  StageSettings stage;
};

constexpr char kTableOnly[] = "-";

OWML_ENGINE EngineOf(const std::string& word) {
  if (word == "native") return OWML_ENGINE_NATIVE;
  if (word == "llama") return OWML_ENGINE_LLAMA;
  return OWML_ENGINE_AUTO;
}

struct Rate {
  std::string test;
  std::vector<double> samples;  // tokens a second

  double mean() const {
    double sum = 0;
    for (double s : samples) sum += s;
    return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
  }
  double deviation() const {
    if (samples.size() < 2) return 0;
    double sum = 0;
    for (double s : samples) sum += (s - mean()) * (s - mean());
    return std::sqrt(sum / static_cast<double>(samples.size() - 1));
  }
  double median() const {
    if (samples.empty()) return 0;
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    const size_t half = sorted.size() / 2;
    return sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
};

// One engine with the model, and what was measured of it.
class Subject {
 public:
  Subject(const BenchOptions& options, const std::string& engine)
      : options_(options), session_(options.model, SettingsFor(options, engine)) {
    session_.Prefill({0});  // any token shows how many there are
    vocabulary_ = session_.Logits().size();
    if (options.prompt_tokens) rates.push_back({fmt::format("pp{}{}", options.prompt_tokens, AtDepth()), {}});
    if (options.generated_tokens) rates.push_back({fmt::format("tg{}{}", options.generated_tokens, AtDepth()), {}});
  }

  std::vector<Rate> rates;

  // One sample of every rate, or what warms the processor for it. Single-token runs are warm after one.
  void Sample(bool warm_up) {
    for (Rate& rate : rates) {
      const uint32_t count = warm_up && !AtOnce(rate) ? 1 : CountOf(rate);
      double seconds = 0;
      Measure(rate, count, [&](auto&& run) {
        const auto start = std::chrono::steady_clock::now();
        run();
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      });
      if (InterruptScope::Requested()) return;
      if (!warm_up) rate.samples.push_back(count / seconds);
    }
  }

  // Another run of every test, which does not count, with the times of its operations. Throws Failure for an engine
  // that cannot tell.
  void TakeProfile() {
    const StageProfiler profiler(session_.model());
    work_buffers_ = profiler.WorkBuffers();
    for (const Rate& rate : rates) {
      Measure(rate, CountOf(rate), [&](auto&& run) {
        profiler.Start();
        run();
        profiles.push_back(profiler.Stop(rate.test));
      });
      if (InterruptScope::Requested()) return;
    }
  }

  std::vector<TestProfile> profiles;

  // The median of the test that begins with `kind`; 0 where it was skipped.
  double MedianOf(char kind) const {
    for (const Rate& rate : rates) {
      if (rate.test[0] == kind) return rate.median();
    }
    return 0;
  }

  std::string EngineName() const {
    OWML_ENGINE engine = OWML_ENGINE_AUTO;
    session_.model().options()->GetEngine(&engine);
    return engine == OWML_ENGINE_NATIVE ? "native" : "llama";
  }
  std::string EngineText() const { return session_.model().EngineText(); }
  uint32_t Threads() const {
    UINT32 threads = 0;
    session_.model().options()->GetIntraOpThreadCount(&threads);
    return threads;
  }

  Json ToJson() const {
    Json report = {{"engine", EngineName()}, {"engineReason", EngineText()}, {"threads", Threads()}};
    if (options_.stage.threads != 0) report["threadsAsked"] = options_.stage.threads;
    if (options_.prompt_tokens) report["prompt_tokens_per_second"] = MedianOf('p');
    if (options_.generated_tokens) report["generation_tokens_per_second"] = MedianOf('t');
    if (!profiles.empty()) {
      report["work_buffer_bytes"] = {{"reserved", work_buffers_.reserved}, {"unshared", work_buffers_.unshared}};
      report["profile"] = Json::array();
      for (const TestProfile& profile : profiles) report["profile"].push_back(ProfileToJson(profile));
    }
    report["results"] = Json::array();
    for (const Rate& rate : rates) {
      report["results"].push_back({{"test", rate.test},
                                   {"tokensPerSecond", rate.mean()},
                                   {"median", rate.median()},
                                   {"deviation", rate.deviation()},
                                   {"samples", rate.samples}});
    }
    return report;
  }

 private:
  static StageSettings SettingsFor(const BenchOptions& options, const std::string& engine) {
    StageSettings settings = options.stage;
    settings.engine = EngineOf(engine);
    settings.capacity =
        uint64_t{options.depth} + std::max<uint64_t>({options.prompt_tokens, options.generated_tokens, 1}) + 1;
    return settings;
  }

  static bool AtOnce(const Rate& rate) { return rate.test[0] == 'p'; }
  uint32_t CountOf(const Rate& rate) const { return AtOnce(rate) ? options_.prompt_tokens : options_.generated_tokens; }

  // around(run): what stands before the measured tokens is there, and run() appends them.
  template <class Around>
  void Measure(const Rate& rate, uint32_t count, Around&& around) {
    session_.Reset();
    std::vector<uint32_t> tokens = RandomTokens(options_.depth);
    if (!tokens.empty()) session_.Prefill(tokens);
    const std::vector<uint32_t> measured = RandomTokens(count);
    tokens.insert(tokens.end(), measured.begin(), measured.end());
    around([&] {
      if (AtOnce(rate)) return session_.Prefill(tokens);
      for (size_t i = 0; i < measured.size() && !InterruptScope::Requested(); ++i) session_.Append(measured[i]);
    });
  }

  std::string AtDepth() const { return options_.depth ? fmt::format(" @ d{}", options_.depth) : ""; }

  std::vector<uint32_t> RandomTokens(size_t count) {
    std::vector<uint32_t> tokens(count);
    for (uint32_t& token : tokens) token = static_cast<uint32_t>(generator_() % vocabulary_);
    return tokens;
  }

  const BenchOptions& options_;
  LanguageSession session_;
  size_t vocabulary_ = 0;
  WorkBufferBytes work_buffers_;
  std::mt19937_64 generator_{1};
};

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
  }

  // Engines take turns, so that both see the same disturbances.
  int Execute(bool as_json) {
    InterruptScope interrupts;
    for (uint32_t repetition = 0; repetition <= options_.repetitions && !InterruptScope::Requested(); ++repetition) {
      for (const auto& subject : subjects_) {
        if (subjects_.size() > 1) WaitForIdleThreads();
        subject->Sample(repetition == 0);
      }
    }
    if (!InterruptScope::Requested()) limits_ = MeasureLimits(subjects_[0]->Threads());
    if (!InterruptScope::Requested() && !options_.profile.empty()) {
      subjects_[0]->TakeProfile();
      if (options_.profile != kTableOnly) WriteTrace(options_.profile, subjects_[0]->profiles);
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
    const double other = subjects_[1]->MedianOf(kind);
    return other > 0 ? subjects_[0]->MedianOf(kind) / other : 0;
  }

  void ReportJson() const {
    Json report = subjects_[0]->ToJson();
    report["model"] = options_.model;
    report["bytes"] = std::filesystem::file_size(options_.model);
    report["cpu"] = CpuDescription();
    report["isa"] = limits_.isa;
    report["depth"] = options_.depth;
    report["read_bandwidth_gb_per_second"] = limits_.read_gigabytes_per_second;
    report["int8_gops"] = limits_.int8_gops;
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
    for (const auto& subject : subjects_) std::printf("%s\n", subject->EngineText().c_str());
    if (limits_.int8_gops > 0) {
      std::printf("limits (%s): reads %.1f GB/s, multiplies %.0f GOPS in 8 bits\n", limits_.isa.c_str(),
                  limits_.read_gigabytes_per_second, limits_.int8_gops);
    }
    std::printf("\n");
    Table table({"model", "size", "engine", "test", "tokens/s", "deviation"});
    table.AlignRight(1).AlignRight(4).AlignRight(5);
    for (const auto& subject : subjects_) {
      for (const Rate& rate : subject->rates) {
        table.Add({std::filesystem::path(options_.model).filename().string(),
                   HumanBytes(std::filesystem::file_size(options_.model)), subject->EngineName(), rate.test,
                   fmt::format("{:.2f}", rate.mean()), fmt::format("{:.2f}", rate.deviation())});
      }
    }
    table.Print(stdout);
    ReportComparison();
    for (const TestProfile& profile : subjects_[0]->profiles) PrintProfile(profile);
  }

  void ReportComparison() const {
    if (subjects_.size() < 2) return;
    std::printf("\n%s against %s, medians:", subjects_[0]->EngineName().c_str(), subjects_[1]->EngineName().c_str());
    if (options_.prompt_tokens) std::printf(" prompt %.2f times", Ratio('p'));
    if (options_.generated_tokens) std::printf(" generation %.2f times", Ratio('t'));
    std::printf("\n");
  }

  const BenchOptions& options_;
  std::vector<std::unique_ptr<Subject>> subjects_;
  MachineLimits limits_;
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
  verb->add_option("-b,--batch", options->stage.batch_size, "Tokens of one batch; 0 = the engine's default")
      ->check(CLI::Range(0u, 1048576u))
      ->capture_default_str();
  verb->add_option("-t,--threads", options->stage.threads, "Threads; 0 = all that the process may use")
      ->check(CLI::Range(0u, 4096u))
      ->envname("OWML_THREADS")
      ->capture_default_str();
  verb->footer(
      "ppN: N random tokens in one run. tgN: N runs of one token. Both from an empty context, or behind --depth "
      "tokens.\n"
      "The limits are what the same threads read and multiply without a model.\n"
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
