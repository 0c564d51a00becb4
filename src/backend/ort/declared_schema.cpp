// From header values to tensor specs.
// Negative extents, which some exporters write for open ones, count as open.
#include "backend/ort/declared_schema.h"

#include "backend/ort/ort_types.h"
#include "base/error.h"
#include "formats/bad_data.h"

namespace owml {
namespace {

const char* KindName(OnnxValueKind kind) {
  switch (kind) {
    case OnnxValueKind::kSparseTensor:
      return "a sparse tensor";
    case OnnxValueKind::kSequence:
      return "a sequence";
    case OnnxValueKind::kMap:
      return "a map";
    case OnnxValueKind::kOptional:
      return "an optional value";
    default:
      return "a value of unknown type";
  }
}

TensorSpec SpecOf(const OnnxValue& value, const std::string& port, const std::string& model_label) {
  const auto refuse = [&](const std::string& what) {
    throw Error(
        HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
        model_label + ": " + port + " is " + what + "; only dense tensors of numbers and booleans can be bound");
  };
  if (value.kind != OnnxValueKind::kTensor) refuse(KindName(value.kind));
  const auto dtype = DTypeOfOnnx(static_cast<ONNXTensorElementDataType>(value.element_type));
  if (!dtype) refuse("a tensor of " + OnnxElementTypeName(value.element_type));
  if (value.dims.size() > kMaxRank) refuse("a tensor of rank " + std::to_string(value.dims.size()));

  TensorSpec spec;
  spec.name = std::string(value.name);
  spec.dtype = *dtype;
  for (const OnnxDimension& dimension : value.dims) {
    const bool open = !dimension.value || *dimension.value < 0;
    spec.dims.push_back(open ? kFreeDimension : static_cast<uint64_t>(*dimension.value));
    spec.dim_names.emplace_back(open ? dimension.symbol : std::string_view());
  }
  return spec;
}

std::string PortOf(const char* direction, size_t index, const OnnxValue& value) {
  return std::string(direction) + " " + std::to_string(index) + " " + Quoted(value.name);
}

}  // namespace

Schema DeclaredSchema(const OnnxHeader& header, const std::string& model_label) {
  Schema schema;
  for (const OnnxValue& value : header.inputs) {
    if (header.IsInitializer(value.name)) continue;
    const std::string port = PortOf("input", schema.inputs.size(), value);
    if (value.kind == OnnxValueKind::kMissing) ThrowBadData(model_label, port + " has no type information");
    schema.inputs.push_back(SpecOf(value, port, model_label));
  }
  for (const OnnxValue& value : header.outputs) {
    if (value.kind == OnnxValueKind::kMissing) {
      TensorSpec spec;
      spec.name = std::string(value.name);
      schema.outputs.push_back(std::move(spec));
    } else {
      schema.outputs.push_back(SpecOf(value, PortOf("output", schema.outputs.size(), value), model_label));
    }
  }
  return schema;
}

}  // namespace owml
