// The counter behind OwmlLiveObjectCount.
// Exported by the runtime library.
#include "com/live_objects.h"

#include <atomic>

namespace {

std::atomic<int64_t> live_objects{0};

}  // namespace

extern "C" {

void OwmlAdjustLiveObjectCount(int32_t delta) { live_objects.fetch_add(delta, std::memory_order_relaxed); }

UINT64 OwmlLiveObjectCount(void) { return static_cast<UINT64>(live_objects.load(std::memory_order_relaxed)); }

}  // extern "C"
