// Reading, showing and writing profiles.
// See bench_profile.h.
#include "bench_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <openwinml/strings.hpp>
#include <set>

#include "failure.h"
#include "terminal.h"

namespace owml::cli {
namespace {

// Those with calls, the longest first.
std::vector<const OperationProfile*> Sorted(const TestProfile& profile) {
  std::vector<const OperationProfile*> sorted;
  for (const OperationProfile& operation : profile.operations) {
    if (operation.counts.callCount > 0) sorted.push_back(&operation);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->counts.nanoseconds > b->counts.nanoseconds; });
  return sorted;
}

uint64_t TotalNanoseconds(const TestProfile& profile) {
  uint64_t total = 0;
  for (const OperationProfile& operation : profile.operations) total += operation.counts.nanoseconds;
  return total;
}

// `count` in a nanosecond is as many 10^9 in a second.
double Rate(uint64_t count, uint64_t nanoseconds) {
  return nanoseconds ? static_cast<double>(count) / static_cast<double>(nanoseconds) : 0;
}

std::string RateText(uint64_t count, uint64_t nanoseconds) {
  return count ? fmt::format("{:.1f}", Rate(count, nanoseconds)) : std::string();
}

double Milliseconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }
double Microseconds(uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

Json Named(const char* what, size_t process, uint32_t lane, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", lane}, {"args", {{"name", name}}}};
}

}  // namespace

StageProfiler::StageProfiler(const ModelSession& session) {
  Check(session.stage()->QueryInterface(IID_PPV_ARGS(profile_.GetAddressOf())), "asking for the profile of the model");
  UINT32 count = 0;
  Check(profile_->GetOperationCount(&count), "asking for the profile of the model");
}

void StageProfiler::Start() const { Check(profile_->Start(), "starting the profile"); }

TestProfile StageProfiler::Stop(const std::string& test) const {
  Check(profile_->Stop(), "ending the profile");
  TestProfile profile;
  profile.test = test;
  UINT32 count = 0;
  Check(profile_->GetOperationCount(&count), "reading the profile");
  for (UINT32 i = 0; i < count; ++i) {
    LPWSTR name = nullptr;
    OWML_PROFILED_OPERATION counts = {};
    Check(profile_->GetOperation(i, &name, &counts), "reading the profile");
    profile.operations.push_back({openwinml::ToUtf8(name), counts});
    CoTaskMemFree(name);
  }
  UINT64 kept = 0, lost = 0;
  Check(profile_->GetSpanCount(&kept, &lost), "reading the profile");
  profile.lost_spans = lost;
  profile.spans.resize(kept);
  Check(profile_->GetSpans(0, kept, profile.spans.data()), "reading the profile");
  return profile;
}

WorkBufferBytes StageProfiler::WorkBuffers() const {
  UINT64 reserved = 0, unshared = 0;
  Check(profile_->GetWorkBufferBytes(&reserved, &unshared), "reading the size of the work buffers");
  return {reserved, unshared};
}

void PrintProfile(const TestProfile& profile) {
  const uint64_t total = TotalNanoseconds(profile);
  std::printf("\n%s: %.2f ms in operations\n", profile.test.c_str(), Milliseconds(total));
  Table table({"operation", "calls", "ms", "share", "GOPS", "GB/s"});
  for (size_t column = 1; column < 6; ++column) table.AlignRight(column);
  for (const OperationProfile* operation : Sorted(profile)) {
    const OWML_PROFILED_OPERATION& counts = operation->counts;
    table.Add({operation->name, std::to_string(counts.callCount),
               fmt::format("{:.2f}", Milliseconds(counts.nanoseconds)),
               fmt::format("{:.1f} %", 100 * Rate(counts.nanoseconds, total)),
               RateText(counts.arithmeticCount, counts.nanoseconds), RateText(counts.byteCount, counts.nanoseconds)});
  }
  table.Print(stdout);
}

Json ProfileToJson(const TestProfile& profile) {
  const uint64_t total = TotalNanoseconds(profile);
  Json json = {{"test", profile.test}, {"milliseconds", Milliseconds(total)}, {"operations", Json::array()}};
  for (const OperationProfile* operation : Sorted(profile)) {
    const OWML_PROFILED_OPERATION& counts = operation->counts;
    Json entry = {{"name", operation->name},
                  {"calls", counts.callCount},
                  {"milliseconds", Milliseconds(counts.nanoseconds)},
                  {"share", Rate(counts.nanoseconds, total)}};
    if (counts.arithmeticCount) entry["gops"] = Rate(counts.arithmeticCount, counts.nanoseconds);
    if (counts.byteCount) entry["gb_per_second"] = Rate(counts.byteCount, counts.nanoseconds);
    json["operations"].push_back(std::move(entry));
  }
  return json;
}

void WriteTrace(const std::string& path, const std::vector<TestProfile>& profiles) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  const char* separator = "\n";
  const auto write = [&](const Json& event) {
    file << separator << CompactJson(event);
    separator = ",\n";
  };
  for (size_t process = 0; process < profiles.size(); ++process) {
    const TestProfile& profile = profiles[process];
    write(Named("process_name", process, 0, profile.test));
    std::set<uint32_t> lanes;
    for (const OWML_PROFILED_SPAN& span : profile.spans) {
      if (lanes.insert(span.lane).second) {
        write(Named("thread_name", process, span.lane,
                    span.lane == 0 ? std::string("operations") : fmt::format("thread {}", span.lane - 1)));
      }
      write({{"name", profile.operations[span.operation].name},
             {"ph", "X"},
             {"ts", Microseconds(span.startNanoseconds)},
             {"dur", Microseconds(span.durationNanoseconds)},
             {"pid", process},
             {"tid", span.lane},
             {"args", {{"layer", span.layer}}}});
    }
  }
  file << "\n]}\n";
  file.close();
  if (!file) throw Failure(fmt::format("cannot write '{}'", path));
}

}  // namespace owml::cli
