// Times of jobs.
// Memory is taken when a profile starts, so that running it takes none.
#include "backend/native/profile.h"

#include <algorithm>

#include "backend/native/work.h"

namespace owml::native {
namespace {

constexpr size_t kMostSpans = size_t{1} << 20;

}  // namespace

uint32_t Profile::OperationFor(const std::string& name) {
  const auto found = std::find_if(operations_.begin(), operations_.end(),
                                  [&](const ProfiledOperation& operation) { return operation.name == name; });
  if (found != operations_.end()) return static_cast<uint32_t>(found - operations_.begin());
  operations_.push_back({.name = name});
  return static_cast<uint32_t>(operations_.size() - 1);
}

void Profile::Start() {
  spans_.clear();
  spans_.reserve(kMostSpans);
  lost_spans_ = 0;
  for (ProfiledOperation& operation : operations_) operation = {.name = std::move(operation.name)};
  start_ = JobTimes::Now();
  running_ = true;
}

void Profile::AddSpan(const ProfiledSpan& span) noexcept {
  if (spans_.size() < kMostSpans) {
    spans_.push_back(span);
  } else {
    ++lost_spans_;
  }
}

void Profile::Run(uint32_t number, const Job& job, const Step& step, Device* device) {
  if (step.rows(job.rows).empty()) return;
  times_.Clear();
  const uint64_t begin = JobTimes::Now();
  device->Run(job, &times_);
  device->Fence();
  const uint64_t end = JobTimes::Now();

  ProfiledOperation& operation = operations_[number];
  const Work work = WorkOf(job, step);
  ++operation.calls;
  operation.nanoseconds += end - begin;
  operation.arithmetic += work.arithmetic;
  operation.bytes += work.bytes;
  AddSpan({number, job.layer, 0, begin - start_, end - begin});
  for (uint32_t thread = 0; thread < times_.spans().size(); ++thread) {
    const JobTimes::Span& span = times_.spans()[thread];
    if (span.end != 0) AddSpan({number, job.layer, thread + 1, span.begin - start_, span.end - span.begin});
  }
}

}  // namespace owml::native
