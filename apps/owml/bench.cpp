// `owml bench`: prompt and generation rates of a language model, defined as llama-bench defines them.
// pp N: N tokens from an empty context in one run; tg N: N single-token runs from an empty context; tokens a second.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>

#include "base/cpu_info.h"
#include "commands.h"
#include "failure.h"
#include "interrupt.h"
#include "json_output.h"
#include "language_session.h"
#include "terminal.h"

namespace owml::cli {
namespace {

struct BenchOptions {
  std::string model;
  uint32_t prompt_tokens = 512;
  uint32_t generated_tokens = 128;
  uint32_t repetitions = 5;
  StageSettings stage;
};

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
};

class Bench {
 public:
  explicit Bench(const BenchOptions& options) : options_(options), session_(options.model, WithCapacity(options)) {
    session_.Prefill(session_.Encode("a"));
    vocabulary_ = session_.Logits().size();
    session_.Reset();
  }

  int Execute(bool as_json) {
    InterruptScope interrupts;
    std::vector<Rate> rates;
    if (options_.prompt_tokens)
      rates.push_back(Measure(fmt::format("pp{}", options_.prompt_tokens), options_.prompt_tokens, true));
    if (options_.generated_tokens) {
      rates.push_back(Measure(fmt::format("tg{}", options_.generated_tokens), options_.generated_tokens, false));
    }
    Report(rates, as_json);
    return InterruptScope::Requested() ? kInterrupted : kOk;
  }

 private:
  static StageSettings WithCapacity(const BenchOptions& options) {
    StageSettings settings = options.stage;
    settings.capacity = std::max<uint64_t>({options.prompt_tokens, options.generated_tokens, 1}) + 1;
    return settings;
  }

  std::vector<uint32_t> RandomTokens(size_t count) {
    std::vector<uint32_t> tokens(count);
    for (uint32_t& token : tokens) token = static_cast<uint32_t>(generator_() % vocabulary_);
    return tokens;
  }

  // One warm-up that does not count, then the repetitions. Single-token runs are warm after one.
  Rate Measure(const std::string& name, uint32_t count, bool at_once) {
    Rate rate{name, {}};
    for (uint32_t repetition = 0; repetition <= options_.repetitions && !InterruptScope::Requested(); ++repetition) {
      session_.Reset();
      const std::vector<uint32_t> tokens = RandomTokens(repetition == 0 && !at_once ? 1 : count);
      const auto start = std::chrono::steady_clock::now();
      if (at_once) {
        session_.Prefill(tokens);
      } else {
        for (size_t i = 0; i < tokens.size() && !InterruptScope::Requested(); ++i) session_.Append(tokens[i]);
      }
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (repetition > 0 && !InterruptScope::Requested()) rate.samples.push_back(count / seconds);
    }
    return rate;
  }

  void Report(const std::vector<Rate>& rates, bool as_json) {
    UINT32 threads = 0;
    session_.model().options()->GetIntraOpThreadCount(&threads);
    const uint64_t bytes = std::filesystem::file_size(options_.model);
    if (as_json) {
      Json report = {{"model", options_.model},
                     {"bytes", bytes},
                     {"cpu", CpuDescription()},
                     {"threads", threads},
                     {"engine", session_.model().EngineText()}};
      report["results"] = Json::array();
      for (const Rate& rate : rates) {
        report["results"].push_back({{"test", rate.test},
                                     {"tokensPerSecond", rate.mean()},
                                     {"deviation", rate.deviation()},
                                     {"samples", rate.samples}});
      }
      PrintJson(report);
      return;
    }
    std::printf("%s, %u thread%s\n%s\n\n", CpuDescription().c_str(), threads, threads == 1 ? "" : "s",
                session_.model().EngineText().c_str());
    Table table({"model", "size", "test", "tokens/s", "deviation"});
    table.AlignRight(1).AlignRight(3).AlignRight(4);
    for (const Rate& rate : rates) {
      table.Add({std::filesystem::path(options_.model).filename().string(), HumanBytes(bytes), rate.test,
                 fmt::format("{:.2f}", rate.mean()), fmt::format("{:.2f}", rate.deviation())});
    }
    table.Print(stdout);
  }

  const BenchOptions& options_;
  LanguageSession session_;
  size_t vocabulary_ = 0;
  std::mt19937_64 generator_{1};
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
  verb->add_option("-b,--batch", options->stage.batch_size, "Tokens of one batch; 0 = the engine's default")
      ->check(CLI::Range(0u, 1048576u))
      ->capture_default_str();
  verb->add_option("-t,--threads", options->stage.threads, "Threads; 0 = all that the process may use")
      ->check(CLI::Range(0u, 4096u))
      ->envname("OWML_THREADS")
      ->capture_default_str();
  verb->footer(
      "ppN: N random tokens in one run from an empty context. tgN: N runs of one token from an empty "
      "context.\n\nExamples:\n"
      "  owml bench model.gguf\n"
      "  owml bench model.gguf -p 512 -n 0 -r 10 -t 2");
  verb->callback(
      [options, &globals, &action] { action = [options, &globals] { return Bench(*options).Execute(globals.json); }; });
}

}  // namespace owml::cli
