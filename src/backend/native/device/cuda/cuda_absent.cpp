// A build without CUDA.
// Stands in for cuda_devices.cpp.
#include "backend/native/device/cuda/cuda_devices.h"
#include "base/error.h"

namespace owml::native {

const std::vector<owml::Device>& CudaDevices() {
  static const std::vector<owml::Device> none;
  return none;
}

std::string WhyNoCudaDevice() { return "it was built without CUDA"; }

const owml::Device* FindCudaDevice(const std::string&) { return nullptr; }

std::unique_ptr<Device> MakeCudaDevice(const owml::Device& device) {
  throw Error(E_FAIL, device.id + " cannot be used: " + WhyNoCudaDevice());
}

}  // namespace owml::native
