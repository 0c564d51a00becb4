// The threads of the CPU device, whose times are taken while a profile wants them.
// Used by the parts of the device that divide work.
#pragma once

#include <set>
#include <vector>

#include "backend/native/job_times.h"
#include "backend/native/thread_pool.h"
#include "base/cpu_info.h"

namespace owml::native {

class Workers {
 public:
  Workers(uint32_t threads, const std::vector<ThreadPlace>& places) : pool_(threads, places) {
    std::set<uint32_t> nodes;
    for (const ThreadPlace& place : places) nodes.insert(place.node);
    if (!nodes.empty()) nodes_ = static_cast<uint32_t>(nodes.size());
  }

  uint32_t size() const { return pool_.size(); }
  // Memory nodes that the threads are on.
  uint32_t nodes() const { return nodes_; }

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
  uint32_t nodes_ = 1;
  CpuWatch processors_;
  JobTimes* times_ = nullptr;
};

}  // namespace owml::native
