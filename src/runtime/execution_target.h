// Where a stage executes: the public target object and the placement behind it.
// Made by runtime/runtime.cpp and, for automatic placement, by Build; also the door to the tensor factories.
#pragma once

#include <WinMLRuntime.h>

#include <string>

#include "backend/session_options.h"
#include "com/com_ptr.h"

namespace owml {

// What a target asks for. `provider` is empty unless the target pins an execution provider; `device_id` is empty for
// the CPU.
struct Placement {
  DeviceKind kind = DeviceKind::kCpu;
  std::string device_id;
  std::string provider;
};

ComPtr<IWinMLExecutionTarget> MakeExecutionTarget(Placement placement);

// The placement of one of our targets, or null for an application's object. Lives as long as the target.
const Placement* PlacementOf(IWinMLExecutionTarget* target);

}  // namespace owml
