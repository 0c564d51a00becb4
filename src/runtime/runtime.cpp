// IWinMLRuntime and IWinMLOrtCompatibility over the registry of backends.
// See runtime.h.
#include "runtime/runtime.h"

#include <WinMLRuntimeOrt.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "com/guard.h"
#include "com/implements.h"
#include "com/wide.h"
#include "runtime/execution_target.h"
#include "runtime/model.h"
#include "runtime/pipeline_builder.h"
#include "runtime/resource_map.h"

namespace owml {
namespace {

constexpr char kCpuProvider[] = "CPUExecutionProvider";

DeviceKind CheckedKind(WINML_EXECUTION_TARGET_KIND kind) {
  Require(kind >= WINML_EXECUTION_TARGET_KIND_CPU && kind <= WINML_EXECUTION_TARGET_KIND_NPU, E_INVALIDARG,
          "kind " + std::to_string(kind) + " is no hardware class");
  return static_cast<DeviceKind>(kind);
}

const char* Name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCpu:
      return "CPU";
    case DeviceKind::kGpu:
      return "GPU";
    case DeviceKind::kNpu:
      return "NPU";
  }
  return "device";
}

// Spec-open: the caller may free its bytes when the call returns, so they are copied.
ModelSource CopyBuffer(const BYTE* bytes, UINT64 count) {
  Require(count != 0, E_INVALIDARG, "byteCount is 0");
  Require(count <= static_cast<UINT64>(std::numeric_limits<ptrdiff_t>::max()), E_INVALIDARG,
          "byteCount " + std::to_string(count) + " is more than a process can hold");
  const size_t size = static_cast<size_t>(count);
  std::shared_ptr<std::byte[]> copy(new (std::nothrow) std::byte[size]);
  Require(copy != nullptr, E_INVALIDARG, "no memory for a model of " + std::to_string(count) + " bytes");
  std::memcpy(copy.get(), bytes, size);
  ModelSource source;
  source.bytes = std::span(copy.get(), size);
  source.owner = std::move(copy);
  return source;
}

class Runtime final : public Implements<Runtime, IWinMLRuntime, IWinMLOrtCompatibility> {
 public:
  explicit Runtime(std::shared_ptr<const Registry> registry) : registry_(std::move(registry)) {}

  HRESULT STDMETHODCALLTYPE LoadModelFromFile(LPCWSTR path, IWinMLResourceMapReader* resources,
                                              IWinMLModel** model) noexcept override {
    return Guard("IWinMLRuntime::LoadModelFromFile", [&] {
      RequireOut(model, "model");
      RequirePointer(path, "path");
      Require(*path, E_INVALIDARG, "path is empty");
      ModelSource source;
      source.path = ToUtf8(path);
      source.resources = AdaptResourceMap(resources);
      *model = MakeModel(registry_->LoadFile(source)).Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE LoadModelFromBuffer(const BYTE* bytes, UINT64 byteCount, IWinMLResourceMapReader* resources,
                                                IWinMLModel** model) noexcept override {
    return Guard("IWinMLRuntime::LoadModelFromBuffer", [&] {
      RequireOut(model, "model");
      RequirePointer(bytes, "bytes");
      ModelSource source = CopyBuffer(bytes, byteCount);
      source.resources = AdaptResourceMap(resources);
      *model = MakeModel(registry_->LoadBuffer(source)).Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE CreatePipelineBuilder(IWinMLPipelineBuilder** builder) noexcept override {
    return Guard("IWinMLRuntime::CreatePipelineBuilder", [&] {
      RequireOut(builder, "builder");
      *builder = MakePipelineBuilder().Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE CreateCpuExecutionTarget(IWinMLExecutionTarget** target) noexcept override {
    return Guard("IWinMLRuntime::CreateCpuExecutionTarget", [&] {
      RequireOut(target, "target");
      *target = MakeExecutionTarget(Placement{}).Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE CreateExecutionTargetFromAdapter(IUnknown* dxCoreAdapter,
                                                             IWinMLExecutionTarget** target) noexcept override {
    return Guard("IWinMLRuntime::CreateExecutionTargetFromAdapter", [&] {
      RequireOut(target, "target");
      RequirePointer(dxCoreAdapter, "dxCoreAdapter");
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "there are no DXCore adapters on this platform");
    });
  }

  HRESULT STDMETHODCALLTYPE CreateExecutionTargetFromD3D12(IUnknown* d3d12Device, IUnknown*,
                                                           IWinMLExecutionTarget** target) noexcept override {
    return Guard("IWinMLRuntime::CreateExecutionTargetFromD3D12", [&] {
      RequireOut(target, "target");
      RequirePointer(d3d12Device, "d3d12Device");
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "there are no D3D12 devices on this platform");
    });
  }

  HRESULT STDMETHODCALLTYPE CreateExecutionTarget(WINML_EXECUTION_TARGET_KIND kind,
                                                  WINML_EXECUTION_TARGET_PREFERENCE preference,
                                                  IWinMLExecutionTarget** target) noexcept override {
    return Guard("IWinMLRuntime::CreateExecutionTarget", [&] {
      RequireOut(target, "target");
      const DeviceKind wanted = CheckedKind(kind);
      Require(preference >= WINML_EXECUTION_TARGET_PREFERENCE_DEFAULT &&
                  preference <= WINML_EXECUTION_TARGET_PREFERENCE_EFFICIENCY,
              E_INVALIDARG, "preference " + std::to_string(preference) + " is unknown");
      Placement placement;
      if (wanted != DeviceKind::kCpu) placement = PlacementOn(BestDevice(wanted, preference));
      *target = MakeExecutionTarget(std::move(placement)).Detach();
    });
  }

  HRESULT STDMETHODCALLTYPE CreateExecutionTarget(LPCWSTR registeredProviderName, WINML_EXECUTION_TARGET_KIND kind,
                                                  IWinMLExecutionTarget* hardwareTarget,
                                                  IWinMLExecutionTarget** target) noexcept override {
    return Guard("IWinMLOrtCompatibility::CreateExecutionTarget", [&] {
      RequireOut(target, "target");
      Require(registeredProviderName && *registeredProviderName, E_INVALIDARG,
              "registeredProviderName is null or empty");
      const DeviceKind wanted = CheckedKind(kind);
      const Placement* hardware = PlacementOf(hardwareTarget);
      Require(!hardwareTarget || hardware, E_INVALIDARG, "hardwareTarget was not made by this runtime library");
      Require(!hardware || hardware->kind == wanted, E_INVALIDARG,
              std::string("hardwareTarget is a ") + (hardware ? Name(hardware->kind) : "") + ", kind asks for a " +
                  Name(wanted));
      *target = MakeExecutionTarget(PinnedPlacement(ToUtf8(registeredProviderName), wanted, hardware)).Detach();
    });
  }

 private:
  static Placement PlacementOn(const Device& device) {
    Placement placement;
    placement.kind = device.kind;
    placement.device_id = device.id;
    return placement;
  }

  // A preference orders the devices of the class: integrated ones use less power, the others are faster.
  Device BestDevice(DeviceKind kind, WINML_EXECUTION_TARGET_PREFERENCE preference) const {
    std::vector<Device> devices = registry_->Devices();
    std::erase_if(devices, [&](const Device& device) { return device.kind != kind; });
    Require(!devices.empty(), HRESULT_FROM_WIN32(ERROR_NOT_FOUND), std::string("no backend offers a ") + Name(kind));
    if (preference != WINML_EXECUTION_TARGET_PREFERENCE_DEFAULT) {
      const bool integrated_first = preference == WINML_EXECUTION_TARGET_PREFERENCE_EFFICIENCY;
      std::stable_partition(devices.begin(), devices.end(),
                            [&](const Device& device) { return device.integrated == integrated_first; });
    }
    return devices.front();
  }

  // Spec-open: exact provider names; a provider that is not there, or not for this class, is not found.
  Placement PinnedPlacement(const std::string& provider, DeviceKind kind, const Placement* hardware) const {
    Placement placement;
    placement.kind = kind;
    if (provider == kCpuProvider && kind == DeviceKind::kCpu) {
      placement.provider = provider;
      return placement;
    }
    for (const Device& device : registry_->Devices()) {
      if (device.provider != provider || device.kind != kind) continue;
      if (hardware && !hardware->device_id.empty() && hardware->device_id != device.id) continue;
      placement.device_id = device.id;
      placement.provider = provider;
      return placement;
    }
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_FOUND),
                "the execution provider '" + provider + "' is not registered for a " + Name(kind));
  }

  const std::shared_ptr<const Registry> registry_;
};

}  // namespace

ComPtr<IWinMLRuntime> MakeRuntime(std::shared_ptr<const Registry> registry) {
  return Make<Runtime>(std::move(registry));
}

}  // namespace owml
