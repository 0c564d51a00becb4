// Where the time of a model goes: the time of every operation, what it multiplied and read, and when each thread worked
// on it. Taken by programs while it runs, read through profiled_runs.h. Costs one branch for a job otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/native/device/device.h"
#include "backend/native/job_times.h"
#include "backend/profiled_runs.h"

namespace owml::native {

class Profile final : public ProfiledRuns {
 public:
  // Of the device's threads.
  explicit Profile(uint32_t threads) : times_(threads) {}

  // The number of the operation with this name; before runs.
  uint32_t OperationFor(const std::string& name);

  void SetWorkBuffers(const WorkBuffers& buffers) { work_buffers_ = buffers; }

  bool running() const { return running_; }
  // Runs a job and waits for it. Throws what Device::Fence throws.
  void Run(uint32_t operation, const Job& job, const Step& step, Device* device);

  // ProfiledRuns
  void Start() override;
  void Stop() override { running_ = false; }
  const std::vector<ProfiledOperation>& operations() const override { return operations_; }
  const std::vector<ProfiledSpan>& spans() const override { return spans_; }
  uint64_t lost_spans() const override { return lost_spans_; }
  WorkBuffers work_buffers() const override { return work_buffers_; }

 private:
  void AddSpan(const ProfiledSpan& span) noexcept;

  bool running_ = false;
  uint64_t start_ = 0;  // nanoseconds of the clock
  JobTimes times_;
  std::vector<ProfiledOperation> operations_;
  std::vector<ProfiledSpan> spans_;
  uint64_t lost_spans_ = 0;
  WorkBuffers work_buffers_;
};

}  // namespace owml::native
