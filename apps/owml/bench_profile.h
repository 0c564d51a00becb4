// Where the time of a benchmark goes, by operation: taken from a stage, shown as a table, as JSON and as a file that
// trace viewers (Perfetto, chrome://tracing) open. Used by bench.cpp.
#pragma once

#include <openwinml/stage_profile.h>

#include <string>
#include <vector>

#include "json_output.h"
#include "model_session.h"

namespace owml::cli {

struct OperationProfile {
  std::string name;
  OWML_PROFILED_OPERATION counts;
};

// Of one test.
struct TestProfile {
  std::string test;
  std::vector<OperationProfile> operations;  // by stage index; some without calls
  std::vector<OWML_PROFILED_SPAN> spans;
  uint64_t lost_spans = 0;
};

struct WorkBufferBytes {
  uint64_t reserved = 0;
  uint64_t unshared = 0;
};

class StageProfiler {
 public:
  // Throws Failure for a stage whose engine cannot tell.
  explicit StageProfiler(const ModelSession& session);

  void Start() const;
  TestProfile Stop(const std::string& test) const;
  WorkBufferBytes WorkBuffers() const;

 private:
  ComPtr<IOwmlStageProfile> profile_;
};

void PrintProfile(const TestProfile& profile);
Json ProfileToJson(const TestProfile& profile);

// In the JSON trace-event format: a process for each test, a lane for operations and one for each thread. Throws
// Failure.
void WriteTrace(const std::string& path, const std::vector<TestProfile>& profiles);

}  // namespace owml::cli
