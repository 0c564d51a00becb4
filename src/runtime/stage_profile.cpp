// Hands a session's profile over the ABI.
// See stage_profile.h.
#include "runtime/stage_profile.h"

#include <algorithm>
#include <span>

#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

// The profile of a stage, while no run goes on.
class ProfileUse {
 public:
  explicit ProfileUse(const StageRef& stage) : use_((RequireBuilt(*stage.core), *stage.core)) {
    const StageNode& node = *stage.node;
    runs_ = node.session ? node.session->profiled_runs() : nullptr;
    Require(runs_ != nullptr, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
            node.label + " cannot tell where the time of its runs goes");
  }
  ProfiledRuns* operator->() const { return runs_; }

 private:
  const ExclusiveUse use_;
  ProfiledRuns* runs_ = nullptr;
};

}  // namespace

HRESULT StageProfileMethods::Start() noexcept {
  return Guard("IOwmlStageProfile::Start", [&] { ProfileUse(stage())->Start(); });
}

HRESULT StageProfileMethods::Stop() noexcept {
  return Guard("IOwmlStageProfile::Stop", [&] { ProfileUse(stage())->Stop(); });
}

HRESULT StageProfileMethods::GetOperationCount(UINT32* count) noexcept {
  return Guard("IOwmlStageProfile::GetOperationCount", [&] {
    RequireOut(count, "count");
    *count = static_cast<UINT32>(ProfileUse(stage())->operations().size());
  });
}

HRESULT StageProfileMethods::GetOperation(UINT32 index, LPWSTR* name, OWML_PROFILED_OPERATION* operation) noexcept {
  return Guard("IOwmlStageProfile::GetOperation", [&] {
    RequireOut(name, "name");
    RequireOut(operation, "operation");
    const ProfileUse profile(stage());
    const auto& operations = profile->operations();
    Require(index < operations.size(), E_INVALIDARG,
            "there is no operation " + std::to_string(index) + " of " + std::to_string(operations.size()));
    const ProfiledOperation& found = operations[index];
    *name = CoTaskWide(ToWide(found.name));
    *operation = {found.calls, found.nanoseconds, found.arithmetic, found.bytes};
  });
}

HRESULT StageProfileMethods::GetSpanCount(UINT64* kept, UINT64* lost) noexcept {
  return Guard("IOwmlStageProfile::GetSpanCount", [&] {
    RequireOut(kept, "kept");
    RequireOut(lost, "lost");
    const ProfileUse profile(stage());
    *kept = profile->spans().size();
    *lost = profile->lost_spans();
  });
}

HRESULT StageProfileMethods::GetSpans(UINT64 first, UINT64 spanCount, OWML_PROFILED_SPAN* spans) noexcept {
  return Guard("IOwmlStageProfile::GetSpans", [&] {
    if (spanCount > 0) RequirePointer(spans, "spans");
    const ProfileUse profile(stage());
    const std::span<const ProfiledSpan> all(profile->spans());
    Require(first <= all.size() && spanCount <= all.size() - first, E_INVALIDARG,
            std::to_string(spanCount) + " spans from " + std::to_string(first) + " on are more than the " +
                std::to_string(all.size()) + " there are");
    std::ranges::transform(all.subspan(first, spanCount), spans, [](const ProfiledSpan& span) {
      return OWML_PROFILED_SPAN{span.operation, span.layer, span.lane, span.start, span.duration};
    });
  });
}

HRESULT StageProfileMethods::GetWorkBufferBytes(UINT64* reserved, UINT64* unshared) noexcept {
  return Guard("IOwmlStageProfile::GetWorkBufferBytes", [&] {
    RequireOut(reserved, "reserved");
    RequireOut(unshared, "unshared");
    const ProfileUse profile(stage());
    *reserved = profile->work_buffers().reserved;
    *unshared = profile->work_buffers().unshared;
  });
}

}  // namespace owml
