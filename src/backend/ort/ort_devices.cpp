// Reads the environment's provider devices.
// An id is "<provider>/<hardware kind>/<n>", n counting the devices of that provider and kind from 0.
#include "backend/ort/ort_devices.h"

#include <map>

#include "backend/ort/ort_library.h"
#include "backend/ort/ort_status.h"
#include "base/error.h"

namespace owml {
namespace {

DeviceKind KindOf(OrtHardwareDeviceType type) {
  switch (type) {
    case OrtHardwareDeviceType_GPU:
      return DeviceKind::kGpu;
    case OrtHardwareDeviceType_NPU:
      return DeviceKind::kNpu;
    default:
      return DeviceKind::kCpu;
  }
}

const char* NameOf(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu:
      return "gpu";
    case DeviceKind::kNpu:
      return "npu";
    default:
      return "cpu";
  }
}

std::string MetadataOf(const OrtHardwareDevice* hardware, const char* key) {
  const OrtKeyValuePairs* pairs = Ort().HardwareDevice_Metadata(hardware);
  const char* value = pairs ? Ort().GetKeyValue(pairs, key) : nullptr;
  return value ? value : "";
}

}  // namespace

std::vector<OrtDevice> ListOrtDevices() {
  // First: Ort() needs the library to be there.
  OrtEnv* const environment = LoadedOrtLibrary().environment;
  const OrtEpDevice* const* handles = nullptr;
  size_t count = 0;
  Check(Ort().GetEpDevices(environment, &handles, &count),
        "ONNX Runtime's devices could not be listed");
  std::vector<OrtDevice> devices;
  std::map<std::string, uint32_t> counts;
  for (size_t i = 0; i < count; ++i) {
    const OrtHardwareDevice* hardware = Ort().EpDevice_Device(handles[i]);
    OrtDevice entry;
    entry.handle = handles[i];
    entry.provider = Ort().EpDevice_EpName(handles[i]);
    entry.kind = KindOf(Ort().HardwareDevice_Type(hardware));
    const std::string group = entry.provider + "/" + NameOf(entry.kind);
    entry.device.kind = entry.kind;
    entry.device.provider = entry.provider;
    entry.device.id = group + "/" + std::to_string(counts[group]++);
    const std::string description = MetadataOf(hardware, "Description");
    const char* vendor = Ort().HardwareDevice_Vendor(hardware);
    entry.device.name =
        !description.empty() ? description : std::string(vendor ? vendor : "") + " " + NameOf(entry.kind);
    entry.device.integrated = entry.kind == DeviceKind::kGpu && MetadataOf(hardware, "Discrete") == "0";
    devices.push_back(std::move(entry));
  }
  return devices;
}

OrtDevice SelectOrtDevice(const SessionOptions& options) {
  std::string offered;
  for (OrtDevice& entry : ListOrtDevices()) {
    const bool id_fits = options.device_id.empty() || options.device_id == entry.device.id;
    // A provider that runs on the CPU does not stand for the CPU unless it is pinned.
    const bool provider_fits = options.provider.empty()
                                   ? (entry.provider == kCpuProvider) == (options.device == DeviceKind::kCpu)
                                   : options.provider == entry.provider;
    if (id_fits && provider_fits && entry.kind == options.device) return entry;
    offered += (offered.empty() ? "" : ", ") + entry.device.id;
  }
  std::string wanted = std::string(NameOf(options.device)) + " device";
  if (!options.device_id.empty()) wanted += " '" + options.device_id + "'";
  if (!options.provider.empty()) wanted += " of the provider '" + options.provider + "'";
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_FOUND),
              "ONNX Runtime offers no " + wanted + "; it offers " + (offered.empty() ? "nothing" : offered));
}

}  // namespace owml
