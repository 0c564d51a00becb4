// One engine with a model under `owml bench`: its runs, their rates and shares of the machine's limits.
// Driven by bench.cpp.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench_profile.h"
#include "json_output.h"
#include "language_session.h"
#include "machine_limits.h"
#include "model_cost.h"

namespace owml::cli {

struct BenchOptions {
  std::string model;
  std::string engine = "auto";
  std::string compared;  // another engine, or empty
  uint32_t prompt_tokens = 512;
  uint32_t generated_tokens = 128;
  uint32_t repetitions = 5;
  uint32_t depth = 0;
  std::string profile;  // where the trace goes; "-" for a table alone, empty for no profile
  StageSettings stage;
};

// 0 of nothing.
double MedianOf(std::vector<double> values);

struct Rate {
  std::string test;
  std::vector<double> samples = {};  // tokens a second
  std::vector<double> shares = {};   // of the machine's limit beside each sample; none behind a depth

  double mean() const;
  double deviation() const;
  double median() const { return MedianOf(samples); }
  double share() const { return MedianOf(shares); }
};

// ppN: N tokens in one run; tgN: N runs of one token; each from an empty context or behind the depth.
class Subject {
 public:
  Subject(const BenchOptions& options, const std::string& engine);

  // One run of every test that does not count. Single-token runs are warm after one.
  void WarmUp();

  // One sample of every rate, held against limits of the same minute where there are any.
  void Sample(const ModelCost& cost, const MachineLimits* limits);

  // Another run of every test, which does not count, with the times of its operations. Throws Failure for an engine
  // that cannot tell.
  void TakeProfile();

  const std::vector<Rate>& rates() const { return rates_; }
  const std::vector<TestProfile>& profiles() const { return profiles_; }
  // The median of the test that begins with `kind`; 0 where it was skipped.
  double MedianRate(char kind) const;

  std::string EngineName() const;
  std::string EngineText() const { return session_.model().EngineText(); }
  uint32_t Threads() const;
  OWML_KV_CACHE_TYPE KvCache() const;

  Json ToJson() const;

 private:
  uint32_t CountOf(const Rate& rate) const;

  // around(run): what stands before the measured tokens is there, and run() appends them.
  template <class Around>
  void Measure(const Rate& rate, uint32_t count, Around&& around);

  std::vector<uint32_t> RandomTokens(size_t count);

  const BenchOptions& options_;
  LanguageSession session_;
  size_t vocabulary_ = 0;
  std::vector<Rate> rates_;
  std::vector<TestProfile> profiles_;
  WorkBufferBytes work_buffers_;
  std::mt19937_64 generator_{1};
};

}  // namespace owml::cli
