// Reading type information through the C API.
// Type information belongs to this call; names to ONNX Runtime's default allocator.
#include "backend/ort/ort_schema.h"

#include "backend/ort/ort_handles.h"
#include "backend/ort/ort_types.h"
#include "base/error.h"

namespace owml {
namespace {

const char* KindName(ONNXType kind) {
  switch (kind) {
    case ONNX_TYPE_SEQUENCE:
      return "a sequence";
    case ONNX_TYPE_MAP:
      return "a map";
    case ONNX_TYPE_OPAQUE:
      return "an opaque value";
    case ONNX_TYPE_SPARSETENSOR:
      return "a sparse tensor";
    case ONNX_TYPE_OPTIONAL:
      return "an optional value";
    default:
      return "a value of unknown type";
  }
}

[[noreturn]] void ThrowUnsupported(const std::string& model_label, const std::string& port, const std::string& what) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              model_label + ": " + port + " is " + what + "; only dense tensors of numbers and booleans can be bound");
}

std::string TakeName(OrtAllocator* allocator, char* name) {
  std::string copy = name;
  // Freeing through the default allocator cannot fail; the status is released all the same.
  if (OrtStatus* status = Ort().AllocatorFree(allocator, name)) Ort().ReleaseStatus(status);
  return copy;
}

void AddPort(OrtPorts& ports, const std::string& model_label, const char* direction, std::string name,
             const OrtTypeInfo* info) {
  const std::string port = PortName(direction, ports.specs.size(), name);
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  Check(Ort().GetOnnxTypeFromTypeInfo(info, &kind), "reading a type failed");
  if (kind != ONNX_TYPE_TENSOR) ThrowUnsupported(model_label, port, KindName(kind));

  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  Check(Ort().CastTypeInfoToTensorInfo(info, &tensor), "reading a tensor type failed");
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  Check(Ort().GetTensorElementType(tensor, &type), "reading an element type failed");
  const std::optional<DType> dtype = DTypeOfOnnx(type);
  if (!dtype) ThrowUnsupported(model_label, port, "a tensor of " + OnnxTypeName(type));

  size_t rank = 0;
  Check(Ort().GetDimensionsCount(tensor, &rank), "reading a rank failed");
  if (rank > kMaxRank) {
    throw Error(
        HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
        model_label + ": " + port + " has rank " + std::to_string(rank) + ", more than " + std::to_string(kMaxRank));
  }
  std::vector<int64_t> extents(rank);
  std::vector<const char*> names(rank);
  Check(Ort().GetDimensions(tensor, extents.data(), rank), "reading extents failed");
  Check(Ort().GetSymbolicDimensions(tensor, names.data(), rank), "reading dimension names failed");

  TensorSpec spec;
  spec.name = std::move(name);
  spec.dtype = *dtype;
  for (size_t axis = 0; axis < rank; ++axis) {
    const bool free = extents[axis] < 0;
    spec.dims.push_back(free ? kFreeDimension : static_cast<uint64_t>(extents[axis]));
    spec.dim_names.emplace_back(free && names[axis] ? names[axis] : "");
  }
  ports.specs.push_back(std::move(spec));
  ports.has_shape.push_back(Ort().TensorTypeAndShape_HasShape(tensor));
}

template <typename Count, typename Name, typename Info>
OrtPorts ReadPorts(const OrtSession* session, const std::string& model_label, const char* direction, Count count_of,
                   Name name_of, Info info_of) {
  OrtAllocator* allocator = nullptr;
  Check(Ort().GetAllocatorWithDefaultOptions(&allocator), "the default allocator is missing");
  size_t count = 0;
  Check(count_of(session, &count), "counting inputs and outputs failed");
  OrtPorts ports;
  for (size_t i = 0; i < count; ++i) {
    char* raw_name = nullptr;
    Check(name_of(session, i, allocator, &raw_name), "reading a name failed");
    std::string name = TakeName(allocator, raw_name);
    const auto info =
        Adopt<OrtTypeInfoPtr>([&](OrtTypeInfo** out) { return info_of(session, i, out); }, "reading a type failed");
    AddPort(ports, model_label, direction, std::move(name), info.get());
  }
  return ports;
}

}  // namespace

OrtPorts ReadInputs(const OrtSession* session, const std::string& model_label) {
  return ReadPorts(session, model_label, "input", Ort().SessionGetInputCount, Ort().SessionGetInputName,
                   Ort().SessionGetInputTypeInfo);
}

OrtPorts ReadOutputs(const OrtSession* session, const std::string& model_label) {
  return ReadPorts(session, model_label, "output", Ort().SessionGetOutputCount, Ort().SessionGetOutputName,
                   Ort().SessionGetOutputTypeInfo);
}

std::string PortName(const char* direction, size_t index, const std::string& name) {
  return std::string(direction) + " " + std::to_string(index) + " '" + name + "'";
}

void CheckTensor(const char* direction, size_t index, const OrtPorts& ports, const TensorView& view) {
  const TensorSpec& spec = ports.specs[index];
  const bool shape_fits = ports.has_shape[index] ? Matches(spec.dims, view.dims) : view.dims.size() <= kMaxRank;
  if (view.dtype != spec.dtype || !shape_fits) {
    const std::string expected =
        ports.has_shape[index] ? ToString(spec.dtype, spec.dims) : std::string(Name(spec.dtype)) + " of any shape";
    throw Error(E_INVALIDARG, PortName(direction, index, spec.name) + " expects " + expected + ", got " +
                                  ToString(view.dtype, view.dims));
  }
  const std::optional<uint64_t> bytes = ByteSize(view.dtype, view.dims);
  if (!bytes || *bytes != view.bytes || (*bytes && !view.data)) {
    throw Error(E_INVALIDARG, PortName(direction, index, spec.name) + ": a tensor " + ToString(view.dtype, view.dims) +
                                  " does not have " + std::to_string(view.bytes) + " bytes");
  }
}

}  // namespace owml
