// Checks and conversions of token ids.
// Ids are unsigned outside and signed in a tensor, as models take them.
#include "tensor/text_tensor_factory.h"

#include <limits>
#include <string>

#include "com/co_task_array.h"
#include "com/guard.h"
#include "tensor/element.h"
#include "tensor/host_tensor.h"
#include "tensor/tensor_access.h"

namespace owml {
namespace {

DType TokenType(WINML_TENSOR_DATA_TYPE data_type) {
  switch (data_type) {
    case WINML_TENSOR_DATA_TYPE_UNDEFINED:
    case WINML_TENSOR_DATA_TYPE_INT64:
      return DType::kInt64;
    case WINML_TENSOR_DATA_TYPE_INT32:
      return DType::kInt32;
    default:
      break;
  }
  const int32_t number = static_cast<int32_t>(data_type);
  if (!IsKnownDType(number)) throw Error(E_INVALIDARG, "desc: unknown element type " + std::to_string(number));
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              "desc: token tensors are int32 or int64, not " + std::string(Name(static_cast<DType>(number))));
}

}  // namespace

ComPtr<IWinMLTensor> CreateTokenTensor(const UINT32* token_ids, uint32_t token_count,
                                       const WINML_TOKEN_TENSOR_DESC* desc) {
  // Spec-open: no ids may come without an address, as an empty container has none.
  if (token_count > 0) RequirePointer(token_ids, "tokenIds");
  RequirePointer(desc, "desc");
  const DType dtype = TokenType(desc->dataType);
  if (desc->batchSize != 1) {
    throw Error(E_INVALIDARG, "desc: batchSize is " + std::to_string(desc->batchSize) + ", not 1");
  }
  ComPtr<IWinMLTensor> tensor = MakeHostTensor(dtype, {1, token_count});
  const TensorAccess access(tensor.Get(), AccessMode::kWrite, "the new tensor");
  for (uint32_t i = 0; i < token_count; ++i) {
    if (dtype == DType::kInt32 && token_ids[i] > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
      throw Error(E_INVALIDARG, "token id " + std::to_string(token_ids[i]) + " at index " + std::to_string(i) +
                                    " does not fit int32");
    }
    StoreIndex(access.view(), i, token_ids[i]);
  }
  return tensor;
}

std::vector<UINT32> ReadTokenIds(IWinMLTensor* tensor) {
  const TensorAccess access(tensor, AccessMode::kRead, "tensor");
  const TensorView& view = access.view();
  if (!IsIndexType(view.dtype)) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                "token ids are read from int32 or int64, not from " + ToString(view.dtype, view.dims));
  }
  // Spec-open: a scalar holds one id; of several rows the first is read.
  const uint64_t count = view.dims.empty() ? 1 : view.dims.back();
  if (count > *ElementCount(view.dims) || count > std::numeric_limits<UINT32>::max()) {
    throw Error(E_INVALIDARG, "tensor: no row of token ids can be read from " + ToString(view.dtype, view.dims));
  }
  std::vector<UINT32> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i) {
    const int64_t id = LoadIndex(view, i);
    if (id < 0 || id > std::numeric_limits<UINT32>::max()) {
      throw Error(E_INVALIDARG, "tensor: " + std::to_string(id) + " at index " + std::to_string(i) + " is no token id");
    }
    ids[i] = static_cast<UINT32>(id);
  }
  return ids;
}

HRESULT TextTensorFactoryMethods::CreateTokenTensor(const UINT32* tokenIds, UINT32 tokenCount,
                                                    const WINML_TOKEN_TENSOR_DESC* desc,
                                                    IWinMLTensor** tensor) noexcept {
  return Guard("IWinMLTextTensorFactory::CreateTokenTensor", [&] {
    RequireOut(tensor, "tensor");
    *tensor = owml::CreateTokenTensor(tokenIds, tokenCount, desc).Detach();
  });
}

HRESULT TextTensorFactoryMethods::ReadTokenIdsFromTensor(IWinMLTensor* tensor, UINT32* tokenCount,
                                                         UINT32** tokenIds) noexcept {
  return Guard("IWinMLTextTensorFactory::ReadTokenIdsFromTensor", [&] {
    if (tokenCount) *tokenCount = 0;
    if (tokenIds) *tokenIds = nullptr;
    RequirePointer(tokenCount, "tokenCount");
    RequirePointer(tokenIds, "tokenIds");
    const std::vector<UINT32> ids = ReadTokenIds(tensor);
    *tokenIds = CoTaskArray(std::span<const UINT32>(ids));
    *tokenCount = static_cast<UINT32>(ids.size());
  });
}

}  // namespace owml
