// What must be known about an ONNX model before ONNX Runtime opens it: versions, inputs and outputs, and every
// reference to data outside the file. The graph is walked, not built. Called by backend/ort and `owml inspect`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace owml {

// Deepest nesting of subgraphs that is followed.
inline constexpr int kOnnxMaxGraphDepth = 32;

struct OnnxDimension {
  std::optional<int64_t> value;  // absent where the extent is open
  std::string_view symbol;       // dim_param
};

enum class OnnxValueKind { kMissing, kTensor, kSparseTensor, kSequence, kMap, kOptional, kOther };

struct OnnxValue {
  std::string_view name;
  OnnxValueKind kind = OnnxValueKind::kMissing;  // kMissing: no type information
  int32_t element_type = 0;                      // TensorProto.DataType; 0 when missing
  bool has_shape = false;
  std::vector<OnnxDimension> dims;
};

// One tensor whose data lies outside the file.
struct OnnxExternalData {
  std::string_view tensor;
  std::string_view location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  std::string_view checksum;
  int32_t element_type = 0;  // TensorProto.DataType
  std::vector<int64_t> dims;
  bool main_initializer = false;  // an initializer of the main graph, not of a subgraph, and no attribute
  std::optional<uint64_t> tensor_bytes;  // what type and extents need; nothing for types of unknown size
};

struct OnnxOpset {
  std::string_view domain;
  int64_t version = 0;
};

// Views point into the bytes that were read.
struct OnnxHeader {
  int64_t ir_version = 0;
  std::string_view producer_name;
  std::string_view producer_version;
  std::string_view graph_name;
  std::string_view doc_string;
  std::vector<OnnxOpset> opsets;
  std::vector<OnnxValue> inputs;  // of the main graph, those backed by an initializer included
  std::vector<OnnxValue> outputs;
  std::vector<std::string_view> initializers;   // of the main graph, sorted
  std::vector<OnnxExternalData> external_data;  // of the whole model
  uint64_t node_count = 0;                      // of the whole model

  bool IsInitializer(std::string_view name) const;
};

// Throws ERROR_INVALID_DATA with a sentence. `label` names the file in it.
OnnxHeader ReadOnnxHeader(std::span<const std::byte> bytes, const std::string& label);

// Lower-case name of a TensorProto.DataType: "float", "int64", "float8e4m3fn", ...; "type 77" for an unknown one.
std::string OnnxElementTypeName(int32_t element_type);

}  // namespace owml
