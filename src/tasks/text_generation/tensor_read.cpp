// A plain lock first, then a synchronized one for tensors whose bytes are on a device.
// See tensor_read.h.
#include "tasks/text_generation/tensor_read.h"

#include <string>

#include "com/guard.h"

namespace owml {

TensorForm ParseTensorForm(const WINML_TENSOR_DESC& desc, const char* what) {
  Require(IsKnownDType(desc.dataType), E_INVALIDARG,
          std::string(what) + " has the unknown element type " + std::to_string(desc.dataType));
  Require(desc.dimensionCount <= kMaxRank, E_INVALIDARG,
          std::string(what) + " has " + std::to_string(desc.dimensionCount) + " axes, more than " +
              std::to_string(kMaxRank));
  Require(desc.dimensionCount == 0 || desc.dimensions, E_INVALIDARG, std::string(what) + " has null dimensions");
  TensorForm form;
  form.dtype = static_cast<DType>(desc.dataType);
  if (desc.dimensionCount != 0) form.dims.assign(desc.dimensions, desc.dimensions + desc.dimensionCount);
  return form;
}

TensorRead::TensorRead(IWinMLTensor* tensor, const char* what) : tensor_(tensor) {
  RequirePointer(tensor, what);
  WINML_TENSOR_DESC desc = {};
  ClearThreadError();
  CheckResult(tensor->GetDesc(&desc), what, "IWinMLTensor::GetDesc");
  form_ = ParseTensorForm(desc, what);
  const auto bytes = ByteSize(form_.dtype, form_.dims);
  Require(bytes.has_value(), E_INVALIDARG, std::string(what) + " has no definite size: " + ToString(form_.dims));
  elements_ = *ElementCount(form_.dims);

  IWinMLTensorDataLock* lock = nullptr;
  ClearThreadError();
  HRESULT result = tensor->Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE, &lock);
  if (result == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)) {
    lock = nullptr;
    ClearThreadError();
    result = tensor->Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_ALLOW_SYNCHRONIZED_CPU_ACCESS, &lock);
  }
  CheckResult(result, what, "IWinMLTensor::Lock");
  lock_.Attach(lock);
  Require(lock_ != nullptr, E_INVALIDARG, std::string(what) + ": IWinMLTensor::Lock succeeded without a lock object");
  BYTE* data = nullptr;
  UINT64 size = 0;
  ClearThreadError();
  CheckResult(lock_->GetData(&data, &size), what, "IWinMLTensorDataLock::GetData");
  Require(size >= *bytes && (data || *bytes == 0), E_INVALIDARG,
          std::string(what) + ": " + ToString(form_.dtype, form_.dims) + " needs " + std::to_string(*bytes) +
              " bytes, its lock gives " + std::to_string(data ? size : 0));
  data_ = data;
}

}  // namespace owml
