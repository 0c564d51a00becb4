// The set of claimed pipelines, by COM identity; one for the process, as pipelines are.
// See pipeline_claim.h.
#include "tasks/text_generation/pipeline_claim.h"

#include <mutex>
#include <set>
#include <utility>

#include "com/guard.h"

namespace owml {
namespace {

struct Claims {
  std::mutex mutex;
  std::set<IUnknown*> pipelines;
};

Claims& AllClaims() {
  static Claims& claims = *new Claims;  // outlives every object of the process
  return claims;
}

}  // namespace

PipelineClaim::PipelineClaim(IWinMLPipeline* pipeline) : identity_(Query<IUnknown>(pipeline)) {
  Require(identity_ != nullptr, E_INVALIDARG, "the pipeline has no identity (IUnknown)");
  Claims& claims = AllClaims();
  const std::lock_guard lock(claims.mutex);
  Require(claims.pipelines.insert(identity_.Get()).second, HRESULT_FROM_WIN32(ERROR_BUSY),
          "another session uses the pipeline; close that session first");
}

PipelineClaim& PipelineClaim::operator=(PipelineClaim&& other) noexcept {
  std::swap(identity_, other.identity_);
  return *this;
}

PipelineClaim::~PipelineClaim() {
  if (!identity_) return;
  Claims& claims = AllClaims();
  const std::lock_guard lock(claims.mutex);
  claims.pipelines.erase(identity_.Get());
}

}  // namespace owml
