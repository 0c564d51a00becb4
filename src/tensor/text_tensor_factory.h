// Token ids as tensors and back.
// The functions are for our own code; the class fills IWinMLTextTensorFactory of an execution target.
#pragma once

#include <WinMLTensorFactory.h>

#include <vector>

#include "com/com_ptr.h"

namespace owml {

// [1, token_count]. Throws E_POINTER, E_INVALIDARG (batch, id that does not fit), ERROR_NOT_SUPPORTED (element type).
ComPtr<IWinMLTensor> CreateTokenTensor(const UINT32* token_ids, uint32_t token_count,
                                       const WINML_TOKEN_TENSOR_DESC* desc);

// The first row. Throws E_POINTER, E_INVALIDARG (value outside 32 bits, no row), ERROR_NOT_SUPPORTED (element type).
std::vector<UINT32> ReadTokenIds(IWinMLTensor* tensor);

// A base for an object that offers the interface; IUnknown is the object's own.
class TextTensorFactoryMethods : public IWinMLTextTensorFactory {
 public:
  using AbiInterface = IWinMLTextTensorFactory;

  HRESULT STDMETHODCALLTYPE CreateTokenTensor(const UINT32* tokenIds, UINT32 tokenCount,
                                              const WINML_TOKEN_TENSOR_DESC* desc,
                                              IWinMLTensor** tensor) noexcept override;
  HRESULT STDMETHODCALLTYPE ReadTokenIdsFromTensor(IWinMLTensor* tensor, UINT32* tokenCount,
                                                   UINT32** tokenIds) noexcept override;

 protected:
  ~TextTensorFactoryMethods() = default;
};

}  // namespace owml
