// A pipeline belongs to one session at a time; the claim is given back when it is destroyed.
// Held by each open session.
#pragma once

#include <WinMLRuntime.h>

#include "com/com_ptr.h"

namespace owml {

class PipelineClaim {
 public:
  PipelineClaim() = default;
  // Throws ERROR_BUSY when another session has the pipeline.
  explicit PipelineClaim(IWinMLPipeline* pipeline);
  PipelineClaim(PipelineClaim&& other) noexcept : identity_(std::move(other.identity_)) {}
  PipelineClaim& operator=(PipelineClaim&& other) noexcept;
  ~PipelineClaim();

 private:
  ComPtr<IUnknown> identity_;
};

}  // namespace owml
