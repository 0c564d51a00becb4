// See bench_subject.h.
// A rate is tokens over the seconds of the runs alone: what fills the context before is not timed.
#include "bench_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "interrupt.h"
#include "stage_options.h"

namespace owml::cli {
namespace {

OWML_ENGINE EngineOf(const std::string& word) {
  if (word == "native") return OWML_ENGINE_NATIVE;
  if (word == "llama") return OWML_ENGINE_LLAMA;
  return OWML_ENGINE_AUTO;
}

StageSettings SettingsFor(const BenchOptions& options, const std::string& engine) {
  StageSettings settings = options.stage;
  settings.engine = EngineOf(engine);
  settings.capacity =
      uint64_t{options.depth} + std::max<uint64_t>({options.prompt_tokens, options.generated_tokens, 1}) + 1;
  return settings;
}

bool AtOnce(const Rate& rate) { return rate.test[0] == 'p'; }

}  // namespace

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double Rate::mean() const {
  double sum = 0;
  for (double s : samples) sum += s;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

double Rate::deviation() const {
  if (samples.size() < 2) return 0;
  double sum = 0;
  for (double s : samples) sum += (s - mean()) * (s - mean());
  return std::sqrt(sum / static_cast<double>(samples.size() - 1));
}

Subject::Subject(const BenchOptions& options, const std::string& engine)
    : options_(options), session_(options.model, SettingsFor(options, engine)) {
  session_.Prefill({0});  // any token shows how many there are
  vocabulary_ = session_.Logits().size();
  const std::string depth = options.depth ? fmt::format(" @ d{}", options.depth) : "";
  if (options.prompt_tokens) rates_.push_back({fmt::format("pp{}{}", options.prompt_tokens, depth)});
  if (options.generated_tokens) rates_.push_back({fmt::format("tg{}{}", options.generated_tokens, depth)});
}

uint32_t Subject::CountOf(const Rate& rate) const {
  return AtOnce(rate) ? options_.prompt_tokens : options_.generated_tokens;
}

std::vector<uint32_t> Subject::RandomTokens(size_t count) {
  std::vector<uint32_t> tokens(count);
  for (uint32_t& token : tokens) token = static_cast<uint32_t>(generator_() % vocabulary_);
  return tokens;
}

template <class Around>
void Subject::Measure(const Rate& rate, uint32_t count, Around&& around) {
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

void Subject::WarmUp() {
  for (Rate& rate : rates_) {
    Measure(rate, AtOnce(rate) ? CountOf(rate) : 1, [](auto&& run) { run(); });
    if (InterruptScope::Requested()) return;
  }
}

void Subject::Sample(const ModelCost& cost, const MachineLimits* limits) {
  for (Rate& rate : rates_) {
    const uint32_t count = CountOf(rate);
    double seconds = 0;
    Measure(rate, count, [&](auto&& run) {
      const auto start = std::chrono::steady_clock::now();
      run();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
    if (InterruptScope::Requested()) return;
    rate.samples.push_back(count / seconds);
    if (options_.depth || !limits) continue;
    rate.shares.push_back(rate.samples.back() / 1e9 *
                          (AtOnce(rate) ? static_cast<double>(cost.operations) / limits->int8_gops
                                        : static_cast<double>(cost.bytes) / limits->read_gigabytes_per_second));
  }
}

void Subject::TakeProfile() {
  const StageProfiler profiler(session_.model());
  work_buffers_ = profiler.WorkBuffers();
  for (const Rate& rate : rates_) {
    Measure(rate, CountOf(rate), [&](auto&& run) {
      profiler.Start();
      run();
      profiles_.push_back(profiler.Stop(rate.test));
    });
    if (InterruptScope::Requested()) return;
  }
}

double Subject::MedianRate(char kind) const {
  for (const Rate& rate : rates_) {
    if (rate.test[0] == kind) return rate.median();
  }
  return 0;
}

std::string Subject::EngineName() const {
  OWML_ENGINE engine = OWML_ENGINE_AUTO;
  session_.model().options()->GetEngine(&engine);
  return engine == OWML_ENGINE_NATIVE ? "native" : "llama";
}

uint32_t Subject::Threads() const {
  UINT32 threads = 0;
  session_.model().options()->GetIntraOpThreadCount(&threads);
  return threads;
}

OWML_KV_CACHE_TYPE Subject::KvCache() const {
  OWML_KV_CACHE_TYPE type = OWML_KV_CACHE_TYPE_DEFAULT;
  session_.model().options()->GetKvCacheType(&type);
  return type;
}

Json Subject::ToJson() const {
  Json report = {
      {"engine", EngineName()}, {"engineReason", EngineText()}, {"threads", Threads()}, {"kvCache", NameOf(KvCache())}};
  if (options_.stage.threads != 0) report["threadsAsked"] = options_.stage.threads;
  for (const Rate& rate : rates_) {
    const std::string kind = AtOnce(rate) ? "prompt" : "generation";
    report[kind + "_tokens_per_second"] = rate.median();
    if (!rate.shares.empty()) report[kind + "_share_of_limit"] = rate.share();
  }
  if (!profiles_.empty()) {
    report["work_buffer_bytes"] = {{"reserved", work_buffers_.reserved}, {"unshared", work_buffers_.unshared}};
    report["profile"] = Json::array();
    for (const TestProfile& profile : profiles_) report["profile"].push_back(ProfileToJson(profile));
  }
  report["results"] = Json::array();
  for (const Rate& rate : rates_) {
    report["results"].push_back({{"test", rate.test},
                                 {"tokensPerSecond", rate.mean()},
                                 {"median", rate.median()},
                                 {"deviation", rate.deviation()},
                                 {"samples", rate.samples},
                                 {"sharesOfLimit", rate.shares}});
  }
  return report;
}

}  // namespace owml::cli
