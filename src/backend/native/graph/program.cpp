// Places and runs.
// See program.h.
#include "backend/native/graph/program.h"

#include "backend/native/graph/buffer_plan.h"
#include "backend/native/graph/schedule.h"

namespace owml::native {

Program::Program(const Graph& graph) : jobs_(Schedule(graph)) {
  BufferPlan plan = PlanBuffers(graph, jobs_);
  offsets_ = std::move(plan.offsets);
  bytes_ = plan.bytes;
  unshared_bytes_ = plan.unshared_bytes;
}

void Program::Place(DeviceAddress memory, Device* device, Profile* profile) {
  device_ = device;
  profile_ = profile;
  for (Job& job : jobs_) {
    for (Operation& operation : job.operations) {
      ForEachTensor(operation, [&](Tensor& tensor, Access) {
        if (!IsUnplaced(tensor.address())) return;
        const uint64_t offset = offsets_[BufferOf(tensor.address())] + OffsetInBuffer(tensor.address());
        tensor = tensor.At(memory + offset);
      });
    }
    device->Prepare(job);
    profiled_.push_back(profile->OperationFor(job.name));
  }
}

bool Program::Run(const Step& step, CancellationCheck* check) {
  device_->Begin(step);
  uint32_t layer = UINT32_MAX;
  for (size_t i = 0; i < jobs_.size(); ++i) {
    const Job& job = jobs_[i];
    if (check && job.layer != layer && check->canceled()) {
      device_->Fence();
      return false;
    }
    layer = job.layer;
    if (!profile_->running()) {
      device_->Run(job, nullptr);
    } else {
      profile_->Run(profiled_[i], job, step, device_);
    }
  }
  device_->Fence();
  return true;
}

}  // namespace owml::native
