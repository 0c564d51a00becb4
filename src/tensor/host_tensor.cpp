// The tensor object over CPU memory, and its allocation.
// Everything that touches the bytes goes through the lock rules.
#include "tensor/host_tensor.h"

#include <WinMLRuntime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "com/guard.h"
#include "com/implements.h"
#include "tensor/host_tensor_access.h"
#include "tensor/tensor_access.h"
#include "tensor/tensor_desc.h"
#include "tensor/tensor_lock.h"

namespace owml {
namespace {

constexpr uint64_t kAlignment = 64;

AccessMode ParseLockMode(WINML_TENSOR_LOCK_MODE mode) {
  switch (mode) {
    case WINML_TENSOR_LOCK_MODE_READ:
      return AccessMode::kRead;
    case WINML_TENSOR_LOCK_MODE_WRITE:
      return AccessMode::kWrite;
    case WINML_TENSOR_LOCK_MODE_READ_WRITE:
      return AccessMode::kReadWrite;
  }
  throw Error(E_INVALIDARG,
              "mode is " + std::to_string(static_cast<int>(mode)) + ", not READ (1), WRITE (2) or READ_WRITE (3)");
}

// Repeats `element` over `bytes`, a multiple of its size; the filled part doubles with each copy.
void FillElements(std::byte* data, uint64_t bytes, const std::byte* element, uint64_t element_bytes) {
  if (bytes == 0) return;
  std::memcpy(data, element, element_bytes);
  for (uint64_t done = element_bytes; done < bytes;) {
    const uint64_t step = std::min(done, bytes - done);
    std::memcpy(data + done, data, step);
    done += step;
  }
}

class HostTensor final
    : public Implements<HostTensor, IWinMLTensor, IWinMLMutableTensor, IWinMLTensorSynchronization, HostTensorAccess> {
 public:
  HostTensor(TensorBuffer buffer, bool read_only) : buffer_(std::move(buffer)), read_only_(read_only) {}

  // IWinMLTensor
  HRESULT STDMETHODCALLTYPE GetDesc(WINML_TENSOR_DESC* desc) noexcept override {
    return Guard("IWinMLTensor::GetDesc", [&] {
      RequireOut(desc, "desc");
      *desc = ToTensorDesc(buffer_.view.dtype, buffer_.view.dims);
    });
  }

  HRESULT STDMETHODCALLTYPE Lock(WINML_TENSOR_LOCK_MODE mode, WINML_TENSOR_LOCK_FLAGS flags,
                                 IWinMLTensorDataLock** dataLock) noexcept override {
    return Guard("IWinMLTensor::Lock", [&] {
      RequireOut(dataLock, "dataLock");
      const AccessMode access = ParseLockMode(mode);
      constexpr int kKnownFlags = WINML_TENSOR_LOCK_FLAG_ALLOW_SYNCHRONIZED_CPU_ACCESS;
      if ((static_cast<int>(flags) & ~kKnownFlags) != 0) {
        throw Error(E_INVALIDARG, "flags is " + std::to_string(static_cast<int>(flags)) + ", only bit 0x1 is known");
      }
      *dataLock = MakeTensorDataLock(this, access, "mode").Detach();
    });
  }

  // IWinMLMutableTensor
  HRESULT STDMETHODCALLTYPE CopyFrom(IWinMLTensor* source) noexcept override {
    return Guard("IWinMLMutableTensor::CopyFrom", [&] {
      RequirePointer(source, "source");
      const TensorAccess destination(this, AccessMode::kWrite, "the destination");
      // Spec-open: a copy onto itself changes nothing, so that it succeeds without a second lock.
      if (Query<HostTensorAccess>(source).Get() == static_cast<HostTensorAccess*>(this)) return;
      const TensorAccess from(source, AccessMode::kRead, "source");
      const TensorView& view = from.view();
      if (view.bytes != buffer_.view.bytes) {
        throw Error(E_INVALIDARG, "source has " + std::to_string(view.bytes) + " bytes, this tensor " +
                                      std::to_string(buffer_.view.bytes));
      }
      // Two views may overlap in the caller's buffer.
      if (view.bytes > 0) std::memmove(buffer_.view.data, view.data, view.bytes);
    });
  }

  HRESULT STDMETHODCALLTYPE Fill(const void* value, UINT32 valueSizeInBytes) noexcept override {
    return Guard("IWinMLMutableTensor::Fill", [&] {
      RequirePointer(value, "value");
      // Spec-open: UNDEFINED is raw bytes, so that its element is one byte.
      const uint32_t element_bytes = static_cast<uint32_t>(BytesPerElement(buffer_.view.dtype));  // 0: packed
      const std::string_view type = Name(buffer_.view.dtype);
      if (element_bytes == 0) {
        throw Error(E_INVALIDARG, "elements of " + std::string(type) + " are packed and cannot be filled one by one");
      }
      if (valueSizeInBytes != element_bytes) {
        throw Error(E_INVALIDARG, "valueSizeInBytes is " + std::to_string(valueSizeInBytes) + ", an element of " +
                                      std::string(type) + " has " + std::to_string(element_bytes) + " bytes");
      }
      const TensorAccess destination(this, AccessMode::kWrite, "the tensor");
      std::array<std::byte, 8> element = {};  // `value` may lie in the tensor itself
      std::memcpy(element.data(), value, element_bytes);
      FillElements(buffer_.view.data, buffer_.view.bytes, element.data(), element_bytes);
    });
  }

  // IWinMLTensorSynchronization
  HRESULT STDMETHODCALLTYPE GetReadyFence(IWinMLFence** readyFence) noexcept override {
    return Guard("IWinMLTensorSynchronization::GetReadyFence", [&] {
      RequireOut(readyFence, "readyFence");
      *readyFence = AddedRef(ready_fence_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE SetReadyFence(IWinMLFence* readyFence) noexcept override {
    return Guard("IWinMLTensorSynchronization::SetReadyFence", [&] { ready_fence_ = readyFence; });
  }

  // HostTensorAccess
  const TensorView& View() const noexcept override { return buffer_.view; }
  HRESULT TryLock(AccessMode mode) noexcept override {
    if (mode != AccessMode::kRead && read_only_) return E_ACCESSDENIED;
    return lock_.TryLock(mode) ? S_OK : HRESULT_FROM_WIN32(ERROR_LOCKED);
  }
  void Unlock(AccessMode mode) noexcept override { lock_.Unlock(mode); }

 private:
  const TensorBuffer buffer_;
  const bool read_only_;
  TensorLockState lock_;
  ComPtr<IWinMLFence> ready_fence_;
};

}  // namespace

ComPtr<IWinMLTensor> MakeHostTensor(DType dtype, const Dims& dims) {
  const std::optional<uint64_t> bytes = ByteSize(dtype, dims);
  if (!bytes) throw Error(E_INVALIDARG, ToString(dtype, dims) + " has a free dimension or a size beyond 64 bits");
  if (*bytes > static_cast<uint64_t>(std::numeric_limits<ptrdiff_t>::max()) - kAlignment) throw std::bad_alloc();
  TensorBuffer buffer;
  // calloc leaves a large block to the system's zero pages, untouched until used; aligned_alloc would need a memset.
  // Also a tensor of no bytes gets an address.
  void* block = std::calloc(static_cast<size_t>(*bytes + kAlignment), 1);
  if (!block) throw std::bad_alloc();
  buffer.owner.reset(block, std::free);
  const uintptr_t address = reinterpret_cast<uintptr_t>(block);
  const uintptr_t aligned = (address + kAlignment - 1) & ~static_cast<uintptr_t>(kAlignment - 1);
  buffer.view = {dtype, dims, static_cast<std::byte*>(block) + (aligned - address), *bytes};
  return MakeHostTensor(std::move(buffer), false);
}

ComPtr<IWinMLTensor> MakeHostTensor(TensorBuffer buffer, bool read_only) {
  return Make<HostTensor>(std::move(buffer), read_only);
}

}  // namespace owml
