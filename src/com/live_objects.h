// Counts the COM objects that the process's OpenWinML libraries have alive; tests end at zero.
// The counter itself lives in the runtime library (com/process).
#pragma once

#include <openwinml/diagnostics.h>

#include <cstdint>

extern "C" {
// Exported by the runtime library for its sisters; not part of the public API.
__attribute__((visibility("default"))) void OwmlAdjustLiveObjectCount(int32_t delta);
}

namespace owml {

class LiveObject {
 protected:
  LiveObject() { OwmlAdjustLiveObjectCount(1); }
  ~LiveObject() { OwmlAdjustLiveObjectCount(-1); }
  LiveObject(const LiveObject&) = delete;
  LiveObject& operator=(const LiveObject&) = delete;
};

}  // namespace owml
