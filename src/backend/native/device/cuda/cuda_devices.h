// The GPUs that the native engine can use: none in a build without CUDA (cuda_absent.cpp), or on a machine without a
// driver. Asked by native_backend.cpp for the list, by native_settings.cpp and native_session.cpp at Build.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/native/device/device.h"

namespace owml::native {

// Found out once in a process.
const std::vector<owml::Device>& CudaDevices();

// Why there is none: a clause.
std::string WhyNoCudaDevice();

// The one of an id, or the first for an empty one; null where there is none.
const owml::Device* FindCudaDevice(const std::string& id);

// Throws E_FAIL where it cannot be used.
std::unique_ptr<Device> MakeCudaDevice(const owml::Device& device);

}  // namespace owml::native
