// The accelerators that ONNX Runtime's execution providers offer on this machine.
// Used by ort_backend.cpp to list them and by ort_session_options.cpp to place a session.
#pragma once

#include <onnxruntime_c_api.h>

#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/session_options.h"

namespace owml {

inline constexpr char kCpuProvider[] = "CPUExecutionProvider";

struct OrtDevice {
  const OrtEpDevice* handle = nullptr;  // belongs to the environment
  std::string provider;
  DeviceKind kind = DeviceKind::kCpu;
  Device device;
};

// In ONNX Runtime's order; the CPU provider included.
std::vector<OrtDevice> ListOrtDevices();

// The one that `options` asks for: `device_id` exactly, else the first of the kind, of the pinned provider where there
// is one. ERROR_NOT_FOUND with a sentence that names what is there.
OrtDevice SelectOrtDevice(const SessionOptions& options);

}  // namespace owml
