// Tensors from raw bytes: allocated, copied, viewed in the caller's buffer, or cut out of another tensor.
// The functions are for our own code; the class fills IWinMLRawTensorFactory of an execution target.
#pragma once

#include <WinMLTensorFactory.h>

#include "com/com_ptr.h"

namespace owml {

// `data` null: zeros, and `byte_count` is not looked at. Throws E_POINTER, E_INVALIDARG.
ComPtr<IWinMLTensor> CreateTensor(const WINML_TENSOR_DESC* desc, const void* data, uint64_t byte_count);

// Always throws: ERROR_NOT_SUPPORTED after the pointers are checked. The CPU has no D3D12 buffers.
ComPtr<IWinMLTensor> CreateTensorFromBuffer(const WINML_TENSOR_DESC* desc, const WINML_BUFFER_BINDING* binding);

// The views hold one reference to `lifetime_keep_alive`, which may be null. Throws E_POINTER, E_INVALIDARG.
ComPtr<IWinMLTensor> CreateTensorFromRawBuffer(const WINML_TENSOR_DESC* desc, BYTE* data, uint64_t byte_count,
                                               WINML_TENSOR_ACCESS_MODE access_mode, IUnknown* lifetime_keep_alive);

// Throws E_POINTER, E_INVALIDARG, ERROR_NOT_SUPPORTED for packed types, or what reading `source` answers.
ComPtr<IWinMLTensor> CreateTensorFromRegion(IWinMLTensor* source, const UINT32* starts, const UINT32* extents,
                                            uint32_t axis_count);

// A base for an object that offers the interface; IUnknown is the object's own.
class RawTensorFactoryMethods : public IWinMLRawTensorFactory {
 public:
  using AbiInterface = IWinMLRawTensorFactory;

  HRESULT STDMETHODCALLTYPE CreateTensor(const WINML_TENSOR_DESC* desc, const void* data, UINT64 byteCount,
                                         IWinMLTensor** tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateTensorFromBuffer(const WINML_TENSOR_DESC* desc, const WINML_BUFFER_BINDING* binding,
                                                   IWinMLTensor** tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateTensorFromRawBuffer(const WINML_TENSOR_DESC* desc, BYTE* data, UINT64 byteCount,
                                                      WINML_TENSOR_ACCESS_MODE accessMode, IUnknown* lifetimeKeepAlive,
                                                      IWinMLTensor** tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateTensorFromRegion(IWinMLTensor* source, const UINT32* starts, const UINT32* extents,
                                                   UINT32 axisCount, IWinMLTensor** tensor) noexcept override;

 protected:
  ~RawTensorFactoryMethods() = default;
};

}  // namespace owml
