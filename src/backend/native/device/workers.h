// The threads of the CPU device, whose times are taken while a profile wants them.
// Used by the parts of the device that divide work.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/native/job_times.h"
#include "backend/native/thread_pool.h"
#include "base/cpu_info.h"

namespace owml::native {

class Workers {
 public:
  Workers(uint32_t threads, const std::vector<ThreadPlace>& places) : pool_(threads, places) {
    for (const ThreadPlace& place : places) nodes_.push_back(place.node);
  }

  uint32_t size() const { return pool_.size(); }
  // The memory node of the thread that does the middle of part `part` of `parts` equal ones.
  uint32_t NodeOf(uint64_t part, uint64_t parts) const {
    return nodes_.empty() ? 0 : nodes_[nodes_.size() * (2 * part + 1) / (2 * parts)];
  }

  const ProcessorSet& caller_place() const { return pool_.caller_place(); }
  // What the process may use may change between steps.
  void FollowLimits() noexcept { pool_.LimitTo(processors_.Count()); }

  // Null: no times.
  void Watch(JobTimes* times) { times_ = times; }

  // As ThreadPool::Run.
  template <class Work>
  void Run(uint32_t count, Work&& work) {
    if (!times_) return pool_.Run(count, work);
    pool_.Run(count, [&](uint32_t piece, uint32_t thread) noexcept {
      const uint64_t begin = JobTimes::Now();
      work(piece, thread);
      times_->Add(thread, begin, JobTimes::Now());
    });
  }

 private:
  ThreadPool pool_;
  std::vector<uint32_t> nodes_;  // of each thread that has a place
  CpuWatch processors_;
  JobTimes* times_ = nullptr;
};

}  // namespace owml::native
