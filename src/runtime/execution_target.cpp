// The target object: its kind, its D3D12 answers, its tensor factories.
// See execution_target.h.
#include "runtime/execution_target.h"

#include <WinMLTensorFactory.h>

#include "com/guard.h"
#include "com/implements.h"
#include "tensor/raw_tensor_factory.h"
#include "tensor/tensor_processor_factory.h"
#include "tensor/text_tensor_factory.h"

namespace owml {

// Answered by our own targets only.
struct ITargetPlacement : public IUnknown {
  virtual const Placement& placement() const noexcept = 0;

 protected:
  ~ITargetPlacement() = default;
};

}  // namespace owml

__CRT_UUID_DECL(owml::ITargetPlacement, 0xc5e0b1f4, 0x6a2d, 0x4d87, 0xb3, 0x09, 0x18, 0x7e, 0x4c, 0x92, 0x5d, 0x0b)

namespace owml {
namespace {

constexpr GUID kD3D12FenceId = {0x0a753dcf, 0xc4d8, 0x4b91, {0xad, 0xf6, 0xbe, 0x5a, 0x60, 0xd9, 0x5a, 0x76}};

class ExecutionTarget final
    : public Implements<ExecutionTarget, IWinMLExecutionTarget, IWinMLD3D12ExecutionTarget, RawTensorFactoryMethods,
                        TextTensorFactoryMethods, TensorProcessorFactoryMethods, ITargetPlacement> {
 public:
  explicit ExecutionTarget(Placement placement) : placement_(std::move(placement)) {}

  const Placement& placement() const noexcept override { return placement_; }

  HRESULT STDMETHODCALLTYPE GetKind(WINML_EXECUTION_TARGET_KIND* kind) noexcept override {
    return Guard("IWinMLExecutionTarget::GetKind", [&] {
      RequireOut(kind, "kind");
      *kind = static_cast<WINML_EXECUTION_TARGET_KIND>(placement_.kind);
    });
  }

  // Spec-open: every target answers the interface; one without a D3D12 device says so when asked for it.
  HRESULT STDMETHODCALLTYPE GetDevice(IUnknown** d3d12Device) noexcept override {
    return Guard("IWinMLD3D12ExecutionTarget::GetDevice", [&] {
      RequireOut(d3d12Device, "d3d12Device");
      RefuseD3D12();
    });
  }
  HRESULT STDMETHODCALLTYPE GetCommandQueue(IUnknown** d3d12CommandQueue) noexcept override {
    return Guard("IWinMLD3D12ExecutionTarget::GetCommandQueue", [&] {
      RequireOut(d3d12CommandQueue, "d3d12CommandQueue");
      RefuseD3D12();
    });
  }
  HRESULT STDMETHODCALLTYPE CreateFence(IUnknown* d3d12Fence, UINT64, IWinMLFence** fence) noexcept override {
    return Guard("IWinMLD3D12ExecutionTarget::CreateFence", [&] {
      RequireOut(fence, "fence");
      Require(d3d12Fence != nullptr, E_INVALIDARG, "d3d12Fence is null");
      ComPtr<IUnknown> found;
      CheckResult(d3d12Fence->QueryInterface(kD3D12FenceId, reinterpret_cast<void**>(found.GetAddressOf())),
                  "the object is no D3D12 fence");
      RefuseD3D12();
    });
  }

 private:
  [[noreturn]] static void RefuseD3D12() {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the target has no D3D12 device");
  }

  const Placement placement_;
};

}  // namespace

ComPtr<IWinMLExecutionTarget> MakeExecutionTarget(Placement placement) {
  return Make<ExecutionTarget>(std::move(placement));
}

const Placement* PlacementOf(IWinMLExecutionTarget* target) {
  const ComPtr<ITargetPlacement> ours = Query<ITargetPlacement>(target);
  return ours ? &ours->placement() : nullptr;
}

}  // namespace owml
