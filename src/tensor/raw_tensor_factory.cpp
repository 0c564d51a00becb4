// Checks of the four forms and the region copy.
// Sizes come from the descriptor; the caller's count must agree before a byte is touched.
#include "tensor/raw_tensor_factory.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/tensor_view.h"
#include "com/guard.h"
#include "tensor/host_tensor.h"
#include "tensor/tensor_access.h"
#include "tensor/tensor_desc.h"

namespace owml {
namespace {

uint64_t RequireExactSize(const TensorType& type, uint64_t byte_count) {
  const uint64_t bytes = *ByteSize(type.dtype, type.dims);
  if (byte_count != bytes) {
    throw Error(E_INVALIDARG, "byteCount is " + std::to_string(byte_count) + ", " + ToString(type.dtype, type.dims) +
                                  " has " + std::to_string(bytes) + " bytes");
  }
  return bytes;
}

ComPtr<IWinMLTensor> CopyToNewTensor(const TensorType& type, const void* data, uint64_t bytes) {
  ComPtr<IWinMLTensor> tensor = MakeHostTensor(type.dtype, type.dims);
  const TensorAccess access(tensor.Get(), AccessMode::kWrite, "the new tensor");
  if (bytes > 0) std::memcpy(access.view().data, data, static_cast<size_t>(bytes));
  return tensor;
}

std::shared_ptr<void> KeepAlive(IUnknown* object) {
  if (!object) return nullptr;
  ComPtr<IUnknown> held = object;
  return std::make_shared<ComPtr<IUnknown>>(std::move(held));
}

// Copies the block of `extents` at `starts`, row-major. The trailing axes that are taken whole make one run with the
// axis before them, so that each copy is as long as the layout allows. No extent is 0.
void CopyRegion(const TensorView& source, const UINT32* starts, const Dims& extents, std::byte* out) {
  const size_t rank = extents.size();
  const uint64_t element_bytes = static_cast<uint64_t>(BytesPerElement(source.dtype));
  size_t inner = rank;             // axes from here on are inside the run
  uint64_t run = element_bytes;    // bytes of one copy
  uint64_t pitch = element_bytes;  // bytes between two neighbours on axis inner - 1
  uint64_t offset = 0;             // of the block's first element
  bool whole = true;
  Dims strides(rank);
  for (size_t axis = rank; axis-- > 0;) {
    strides[axis] = pitch;
    offset += starts[axis] * pitch;
    pitch *= source.dims[axis];
    if (whole) {
      run *= extents[axis];
      inner = axis;
      whole = extents[axis] == source.dims[axis];
    }
  }
  const std::byte* in = source.data + offset;
  Dims index(inner, 0);
  for (;;) {
    std::memcpy(out, in, static_cast<size_t>(run));
    out += run;
    size_t axis = inner;
    for (; axis > 0; --axis) {
      in += strides[axis - 1];
      if (++index[axis - 1] < extents[axis - 1]) break;
      in -= strides[axis - 1] * extents[axis - 1];
      index[axis - 1] = 0;
    }
    if (axis == 0) return;
  }
}

}  // namespace

ComPtr<IWinMLTensor> CreateTensor(const WINML_TENSOR_DESC* desc, const void* data, uint64_t byte_count) {
  RequirePointer(desc, "desc");
  const TensorType type = ParseTensorDesc(*desc, "desc");
  if (!data) return MakeHostTensor(type.dtype, type.dims);
  return CopyToNewTensor(type, data, RequireExactSize(type, byte_count));
}

ComPtr<IWinMLTensor> CreateTensorFromBuffer(const WINML_TENSOR_DESC* desc, const WINML_BUFFER_BINDING* binding) {
  RequirePointer(desc, "desc");
  RequirePointer(binding, "binding");
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the target has no D3D12 device whose buffers it could wrap");
}

ComPtr<IWinMLTensor> CreateTensorFromRawBuffer(const WINML_TENSOR_DESC* desc, BYTE* data, uint64_t byte_count,
                                               WINML_TENSOR_ACCESS_MODE access_mode, IUnknown* lifetime_keep_alive) {
  RequirePointer(desc, "desc");
  // Spec-open: an empty tensor may come without an address, as an empty container has none.
  if (byte_count > 0) RequirePointer(data, "data");
  const TensorType type = ParseTensorDesc(*desc, "desc");
  if (*ByteSize(type.dtype, type.dims) > 0) RequirePointer(data, "data");
  const uint64_t bytes = RequireExactSize(type, byte_count);
  switch (access_mode) {
    case WINML_TENSOR_ACCESS_MODE_COPY:
      // Spec-open: a copy needs nothing of the caller's any more, so that it holds no reference to lifetimeKeepAlive.
      return CopyToNewTensor(type, data, bytes);
    case WINML_TENSOR_ACCESS_MODE_READ:
    case WINML_TENSOR_ACCESS_MODE_READWRITE: {
      TensorBuffer buffer = {{type.dtype, type.dims, reinterpret_cast<std::byte*>(data), bytes},
                             KeepAlive(lifetime_keep_alive)};
      return MakeHostTensor(std::move(buffer), access_mode == WINML_TENSOR_ACCESS_MODE_READ);
    }
  }
  throw Error(E_INVALIDARG, "accessMode is " + std::to_string(static_cast<int>(access_mode)) +
                                ", not COPY (0), READ (1) or READWRITE (2)");
}

ComPtr<IWinMLTensor> CreateTensorFromRegion(IWinMLTensor* source, const UINT32* starts, const UINT32* extents,
                                            uint32_t axis_count) {
  RequirePointer(source, "source");
  if (axis_count > 0) {
    RequirePointer(starts, "starts");
    RequirePointer(extents, "extents");
  }
  const TensorAccess access(source, AccessMode::kRead, "source");
  const TensorView& view = access.view();
  if (axis_count != view.dims.size()) {
    throw Error(E_INVALIDARG,
                "axisCount is " + std::to_string(axis_count) + ", the source is " + ToString(view.dtype, view.dims));
  }
  for (uint32_t axis = 0; axis < axis_count; ++axis) {
    if (uint64_t{starts[axis]} + extents[axis] > view.dims[axis]) {
      throw Error(E_INVALIDARG, "axis " + std::to_string(axis) + ": the region starts at " +
                                    std::to_string(starts[axis]) + " and is " + std::to_string(extents[axis]) +
                                    " long, the source has " + std::to_string(view.dims[axis]));
    }
  }
  if (BitsPerElement(view.dtype) < 8) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                "regions of " + std::string(Name(view.dtype)) + " are not supported: its elements are packed");
  }
  const Dims dims(extents, extents + axis_count);
  ComPtr<IWinMLTensor> region = MakeHostTensor(view.dtype, dims);
  const TensorAccess out(region.Get(), AccessMode::kWrite, "the new tensor");
  if (out.view().bytes > 0) CopyRegion(view, starts, dims, out.view().data);
  return region;
}

HRESULT RawTensorFactoryMethods::CreateTensor(const WINML_TENSOR_DESC* desc, const void* data, UINT64 byteCount,
                                              IWinMLTensor** tensor) noexcept {
  return Guard("IWinMLRawTensorFactory::CreateTensor", [&] {
    RequireOut(tensor, "tensor");
    *tensor = owml::CreateTensor(desc, data, byteCount).Detach();
  });
}

HRESULT RawTensorFactoryMethods::CreateTensorFromBuffer(const WINML_TENSOR_DESC* desc,
                                                        const WINML_BUFFER_BINDING* binding,
                                                        IWinMLTensor** tensor) noexcept {
  return Guard("IWinMLRawTensorFactory::CreateTensorFromBuffer", [&] {
    RequireOut(tensor, "tensor");
    *tensor = owml::CreateTensorFromBuffer(desc, binding).Detach();
  });
}

HRESULT RawTensorFactoryMethods::CreateTensorFromRawBuffer(const WINML_TENSOR_DESC* desc, BYTE* data, UINT64 byteCount,
                                                           WINML_TENSOR_ACCESS_MODE accessMode,
                                                           IUnknown* lifetimeKeepAlive,
                                                           IWinMLTensor** tensor) noexcept {
  return Guard("IWinMLRawTensorFactory::CreateTensorFromRawBuffer", [&] {
    RequireOut(tensor, "tensor");
    *tensor = owml::CreateTensorFromRawBuffer(desc, data, byteCount, accessMode, lifetimeKeepAlive).Detach();
  });
}

HRESULT RawTensorFactoryMethods::CreateTensorFromRegion(IWinMLTensor* source, const UINT32* starts,
                                                        const UINT32* extents, UINT32 axisCount,
                                                        IWinMLTensor** tensor) noexcept {
  return Guard("IWinMLRawTensorFactory::CreateTensorFromRegion", [&] {
    RequireOut(tensor, "tensor");
    *tensor = owml::CreateTensorFromRegion(source, starts, extents, axisCount).Detach();
  });
}

}  // namespace owml
