// Looking for GPUs. Without a driver the CUDA runtime, which is linked in, says so and nothing else happens.
// Ids are those that llama.cpp gives the same devices, so that a stage may go to either engine.
#include "backend/native/device/cuda/cuda_devices.h"

#include <cuda_runtime.h>

#include <algorithm>

#include "backend/native/device/cuda/cuda_device.h"
#include "base/log.h"

namespace owml::native {
namespace {

// The oldest generation that the kernels are built for.
constexpr int kLeastMajor = 7, kLeastMinor = 5;

struct Found {
  std::vector<owml::Device> devices;
  std::string why_none;
};

Found Find() {
  Found found;
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
    cudaGetLastError();  // said here, so not again
    found.why_none = std::string("CUDA says: ") + cudaGetErrorString(error);
    return found;
  }
  found.why_none = "CUDA finds no device";
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    const std::string id = "CUDA" + std::to_string(i), name = properties.name;
    if (properties.major < kLeastMajor || (properties.major == kLeastMajor && properties.minor < kLeastMinor)) {
      found.why_none =
          name + " is older than compute capability " + std::to_string(kLeastMajor) + "." + std::to_string(kLeastMinor);
      Log(OWML_LOG_LEVEL_WARNING, "native", id + " is not used: " + found.why_none);
      continue;
    }
    found.devices.push_back(
        {.kind = DeviceKind::kGpu, .id = id, .name = name, .integrated = properties.integrated != 0, .provider = {}});
  }
  return found;
}

const Found& Known() {
  static const Found found = Find();
  return found;
}

}  // namespace

const std::vector<owml::Device>& CudaDevices() { return Known().devices; }

std::string WhyNoCudaDevice() { return Known().why_none; }

const owml::Device* FindCudaDevice(const std::string& id) {
  const auto& devices = CudaDevices();
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const owml::Device& device) { return id.empty() || device.id == id; });
  return found == devices.end() ? nullptr : &*found;
}

std::unique_ptr<Device> MakeCudaDevice(const owml::Device& device) {
  const int ordinal = std::stoi(device.id.substr(std::string("CUDA").size()));
  return std::make_unique<CudaDevice>(ordinal, device.id + " (" + device.name + ")");
}

}  // namespace owml::native
