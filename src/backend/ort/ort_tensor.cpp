// Making and reading OrtValues.
// All of them lie in CPU memory: outputs of other devices are brought there by ONNX Runtime.
#include "backend/ort/ort_tensor.h"

#include <cstring>

#include "backend/ort/ort_types.h"
#include "base/error.h"

namespace owml {
namespace {

// Never released: values refer to it as long as the process runs.
const OrtMemoryInfo* CpuMemory() {
  static const OrtMemoryInfo* info = [] {
    OrtMemoryInfo* made = nullptr;
    Check(Ort().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &made), "CPU memory information is missing");
    return made;
  }();
  return info;
}

// Extents as ONNX Runtime wants them; CheckTensor has bounded rank and product.
struct Extents {
  explicit Extents(const Dims& dims) : count(dims.size()) {
    for (size_t axis = 0; axis < count; ++axis) values[axis] = static_cast<int64_t>(dims[axis]);
  }
  int64_t values[kMaxRank];
  size_t count;
};

}  // namespace

void OrtValueSlot::Point(const TensorView& view) {
  // An empty tensor may come without memory, which ONNX Runtime refuses.
  static std::byte nowhere[1];
  const Extents extents(view.dims);
  void* data = view.data ? view.data : nowhere;
  value_.reset();
  value_ = Adopt<OrtValuePtr>(
      [&](OrtValue** out) {
        return Ort().CreateTensorWithDataAsOrtValue(CpuMemory(), data, static_cast<size_t>(view.bytes), extents.values,
                                                    extents.count, OnnxTypeOf(view.dtype), out);
      },
      "a tensor could not be handed to ONNX Runtime");
  data_ = view.data;
  dtype_ = view.dtype;
  dims_ = view.dims;
}

OrtValuePtr MakeZeroTensor(DType dtype, const Dims& dims) {
  const std::optional<uint64_t> bytes = ByteSize(dtype, dims);
  if (!bytes || *bytes > static_cast<uint64_t>(PTRDIFF_MAX)) {
    throw Error(E_OUTOFMEMORY, "a tensor " + ToString(dtype, dims) + " does not fit into memory");
  }
  OrtAllocator* allocator = nullptr;
  Check(Ort().GetAllocatorWithDefaultOptions(&allocator), "the default allocator is missing");
  const Extents extents(dims);
  OrtValuePtr value = Adopt<OrtValuePtr>(
      [&](OrtValue** out) {
        return Ort().CreateTensorAsOrtValue(allocator, extents.values, extents.count, OnnxTypeOf(dtype), out);
      },
      "memory for a tensor could not be had");
  void* data = nullptr;
  Check(Ort().GetTensorMutableData(value.get(), &data), "a tensor has no memory");
  if (*bytes) std::memset(data, 0, static_cast<size_t>(*bytes));
  return value;
}

TensorView ViewOf(OrtValue* value) {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const int64_t* extents = nullptr;
  size_t rank = 0;
  Check(Ort().GetTensorElementTypeAndShapeDataReference(value, &type, &extents, &rank), "an output is no tensor");
  const std::optional<DType> dtype = DTypeOfOnnx(type);
  if (!dtype) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "an output is a tensor of " + OnnxTypeName(type));
  }
  TensorView view;
  view.dtype = *dtype;
  view.dims.assign(extents, extents + rank);
  const std::optional<uint64_t> bytes = ByteSize(view.dtype, view.dims);
  if (!bytes) throw Error(E_FAIL, "an output has the impossible shape " + ToString(view.dims));
  view.bytes = *bytes;
  void* data = nullptr;
  Check(Ort().GetTensorMutableData(value, &data), "an output has no memory");
  view.data = static_cast<std::byte*>(data);
  return view;
}

TensorBuffer Share(OrtValuePtr value) {
  TensorBuffer buffer;
  buffer.view = ViewOf(value.get());
  buffer.owner = std::shared_ptr<OrtValue>(std::move(value));
  return buffer;
}

}  // namespace owml
