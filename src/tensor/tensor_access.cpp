// Locks host tensors directly and strangers through the public interface, whose answers are all checked.
// A stranger's descriptor is copied once; everything afterwards relies on the copy.
#include "tensor/tensor_access.h"

#include <string>
#include <utility>

#include "com/error_info.h"
#include "com/guard.h"
#include "tensor/host_tensor_access.h"
#include "tensor/tensor_desc.h"

namespace owml {
namespace {

TensorType ReadType(IWinMLTensor* tensor, const char* what) {
  WINML_TENSOR_DESC desc = {};
  ClearThreadError();
  CheckResult(tensor->GetDesc(&desc), what, "IWinMLTensor::GetDesc");
  return ParseTensorDesc(desc, what);
}

WINML_TENSOR_LOCK_MODE ToLockMode(AccessMode mode) {
  switch (mode) {
    case AccessMode::kRead:
      return WINML_TENSOR_LOCK_MODE_READ;
    case AccessMode::kWrite:
      return WINML_TENSOR_LOCK_MODE_WRITE;
    case AccessMode::kReadWrite:
      break;
  }
  return WINML_TENSOR_LOCK_MODE_READ_WRITE;
}

}  // namespace

TensorAccess::TensorAccess(IWinMLTensor* tensor, AccessMode mode, const char* what) : mode_(mode) {
  if (!tensor) throw Error(E_POINTER, std::string(what) + " is null");
  ComPtr<HostTensorAccess> host = Query<HostTensorAccess>(tensor);
  if (host) {
    LockOrThrow(*host.Get(), mode, what);
    host_ = std::move(host);
  } else {
    LockStranger(tensor, what);
  }
}

TensorAccess::~TensorAccess() {
  if (host_) host_->Unlock(mode_);
}

TensorAccess::TensorAccess(TensorAccess&& other) noexcept
    : host_(std::move(other.host_)),
      stranger_(std::move(other.stranger_)),
      lock_(std::move(other.lock_)),
      mode_(other.mode_),
      synchronized_(other.synchronized_),
      stranger_view_(std::move(other.stranger_view_)) {}

const TensorView& TensorAccess::view() const { return host_ ? host_->View() : stranger_view_; }

void TensorAccess::Commit() {
  // A lock that needed no synchronized access is direct: the bytes are in place.
  if (mode_ == AccessMode::kRead || !synchronized_) return;
  const auto staged = Query<IWinMLTensorSynchronizedDataLock>(lock_.Get());
  if (!staged) return;
  ClearThreadError();
  CheckResult(staged->Commit(), "the tensor", "IWinMLTensorSynchronizedDataLock::Commit");
}

void TensorAccess::LockStranger(IWinMLTensor* tensor, const char* what) {
  TensorType type = ReadType(tensor, what);
  const uint64_t bytes = *ByteSize(type.dtype, type.dims);

  IWinMLTensorDataLock* lock = nullptr;
  ClearThreadError();
  HRESULT result = tensor->Lock(ToLockMode(mode_), WINML_TENSOR_LOCK_FLAG_NONE, &lock);
  if (result == HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)) {
    lock = nullptr;
    ClearThreadError();
    synchronized_ = true;
    result = tensor->Lock(ToLockMode(mode_), WINML_TENSOR_LOCK_FLAG_ALLOW_SYNCHRONIZED_CPU_ACCESS, &lock);
  }
  CheckResult(result, what, "IWinMLTensor::Lock");
  stranger_ = tensor;
  lock_.Attach(lock);
  if (!lock_) throw Error(E_INVALIDARG, std::string(what) + ": IWinMLTensor::Lock succeeded without a lock object");

  BYTE* data = nullptr;
  UINT64 size = 0;
  ClearThreadError();
  CheckResult(lock_->GetData(&data, &size), what, "IWinMLTensorDataLock::GetData");
  if (size < bytes) {
    throw Error(E_INVALIDARG, std::string(what) + ": " + ToString(type.dtype, type.dims) + " needs " +
                                  std::to_string(bytes) + " bytes, its lock gives " + std::to_string(size));
  }
  if (!data && bytes > 0) throw Error(E_INVALIDARG, std::string(what) + ": its lock gives null data");
  stranger_view_ = {type.dtype, std::move(type.dims), reinterpret_cast<std::byte*>(data), bytes};
}

void ReadTensorDesc(IWinMLTensor* tensor, const char* what, DType* dtype, Dims* dims) {
  if (!tensor) throw Error(E_POINTER, std::string(what) + " is null");
  TensorType type = ReadType(tensor, what);
  *dtype = type.dtype;
  *dims = std::move(type.dims);
}

}  // namespace owml
