// Writes ONNX models in memory by hand-made protobuf, right or deliberately wrong.
// Used by tests of the ONNX header reader, the registry and the ONNX Runtime backend, and by the fuzz corpus.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace owml::test {

// Protobuf fields one after the other.
class ProtobufWriter {
 public:
  ProtobufWriter& Varint(uint32_t field, uint64_t value) {
    bytes_ += Encode(uint64_t{field} << 3) + Encode(value);
    return *this;
  }
  ProtobufWriter& Bytes(uint32_t field, std::string_view value) {
    bytes_ += Encode((uint64_t{field} << 3) | 2) + Encode(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufWriter& Message(uint32_t field, const ProtobufWriter& value) { return Bytes(field, value.bytes_); }
  ProtobufWriter& Float(uint32_t field, float value) {
    bytes_ += Encode((uint64_t{field} << 3) | 5);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  // A field that announces `length` bytes and holds `value`.
  ProtobufWriter& Announced(uint32_t field, uint64_t length, std::string_view value) {
    bytes_ += Encode((uint64_t{field} << 3) | 2) + Encode(length);
    bytes_ += value;
    return *this;
  }
  ProtobufWriter& Raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

  static std::string Encode(uint64_t value) {
    std::string bytes;
    while (value >= 0x80) {
      bytes += static_cast<char>((value & 0x7F) | 0x80);
      value >>= 7;
    }
    return bytes + static_cast<char>(value);
  }

 private:
  std::string bytes_;
};

// TensorProto.DataType
inline constexpr int32_t kOnnxFloat = 1;
inline constexpr int32_t kOnnxUInt8 = 2;
inline constexpr int32_t kOnnxInt8 = 3;
inline constexpr int32_t kOnnxInt32 = 6;
inline constexpr int32_t kOnnxInt64 = 7;
inline constexpr int32_t kOnnxString = 8;
inline constexpr int32_t kOnnxBool = 9;
inline constexpr int32_t kOnnxFloat16 = 10;

// One extent: a number or a name; neither when it is open and nameless.
struct OnnxDim {
  OnnxDim(int64_t extent) : value(extent) {}   // NOLINT: written as plain numbers in tests
  OnnxDim(const char* name) : symbol(name) {}  // NOLINT
  std::optional<int64_t> value;
  std::string symbol;
};

inline ProtobufWriter OnnxTensorValue(const std::string& name, int32_t type, const std::vector<OnnxDim>& dims) {
  ProtobufWriter shape;
  for (const OnnxDim& dim : dims) {
    ProtobufWriter dimension;
    if (dim.value) dimension.Varint(1, static_cast<uint64_t>(*dim.value));
    if (!dim.symbol.empty()) dimension.Bytes(2, dim.symbol);
    shape.Message(1, dimension);
  }
  ProtobufWriter tensor_type;
  tensor_type.Varint(1, static_cast<uint64_t>(type)).Message(2, shape);
  return ProtobufWriter().Bytes(1, name).Message(2, ProtobufWriter().Message(1, tensor_type));
}

inline ProtobufWriter OnnxTensor(const std::string& name, int32_t type, const std::vector<int64_t>& dims,
                                 std::string_view raw_data) {
  ProtobufWriter tensor;
  for (const int64_t extent : dims) tensor.Varint(1, static_cast<uint64_t>(extent));
  return tensor.Varint(2, static_cast<uint64_t>(type)).Bytes(8, name).Bytes(9, raw_data);
}

// A tensor whose data is elsewhere; `entries` are key and value, such as {"location", "weights.bin"}.
inline ProtobufWriter OnnxExternalTensor(const std::string& name, int32_t type, const std::vector<int64_t>& dims,
                                         const std::vector<std::pair<std::string, std::string>>& entries) {
  ProtobufWriter tensor;
  for (const int64_t extent : dims) tensor.Varint(1, static_cast<uint64_t>(extent));
  tensor.Varint(2, static_cast<uint64_t>(type)).Bytes(8, name);
  for (const auto& [key, value] : entries) tensor.Message(13, ProtobufWriter().Bytes(1, key).Bytes(2, value));
  return tensor.Varint(14, 1);
}

inline ProtobufWriter OnnxNode(const std::string& type, const std::vector<std::string>& inputs,
                               const std::vector<std::string>& outputs,
                               const std::vector<ProtobufWriter>& attributes = {}) {
  ProtobufWriter node;
  for (const std::string& input : inputs) node.Bytes(1, input);
  for (const std::string& output : outputs) node.Bytes(2, output);
  node.Bytes(4, type);
  for (const ProtobufWriter& attribute : attributes) node.Message(5, attribute);
  return node;
}

inline ProtobufWriter OnnxTensorAttribute(const std::string& name, const ProtobufWriter& tensor) {
  return ProtobufWriter().Bytes(1, name).Message(5, tensor).Varint(20, 4);
}

inline ProtobufWriter OnnxGraphAttribute(const std::string& name, const ProtobufWriter& graph) {
  return ProtobufWriter().Bytes(1, name).Message(6, graph).Varint(20, 5);
}

inline ProtobufWriter OnnxIntAttribute(const std::string& name, int64_t value) {
  return ProtobufWriter().Bytes(1, name).Varint(3, static_cast<uint64_t>(value)).Varint(20, 2);
}

class OnnxWriter {
 public:
  int64_t ir_version = 8;
  int64_t opset = 17;

  OnnxWriter& Input(const std::string& name, int32_t type, const std::vector<OnnxDim>& dims) {
    return InputValue(OnnxTensorValue(name, type, dims));
  }
  OnnxWriter& InputValue(const ProtobufWriter& value) {
    graph_.Message(11, value);
    return *this;
  }
  OnnxWriter& Output(const std::string& name, int32_t type, const std::vector<OnnxDim>& dims) {
    graph_.Message(12, OnnxTensorValue(name, type, dims));
    return *this;
  }
  OnnxWriter& Node(const ProtobufWriter& node) {
    graph_.Message(1, node);
    return *this;
  }
  OnnxWriter& Initializer(const ProtobufWriter& tensor) {
    graph_.Message(5, tensor);
    return *this;
  }
  // Any other field of the graph or of the model.
  ProtobufWriter& graph() { return graph_; }
  ProtobufWriter& model() { return model_; }

  std::string Bytes() const {
    ProtobufWriter file;
    file.Varint(1, static_cast<uint64_t>(ir_version)).Bytes(2, "tests");
    file.Message(8, ProtobufWriter().Bytes(1, "").Varint(2, static_cast<uint64_t>(opset)));
    ProtobufWriter graph = graph_;
    graph.Bytes(2, "graph");
    return file.Message(7, graph).Raw(model_.bytes()).bytes();
  }

 private:
  ProtobufWriter graph_;
  ProtobufWriter model_;
};

// y = x + w with `w` in an initializer, all float [2].
inline OnnxWriter AddModel(const ProtobufWriter& initializer) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {2}).Output("y", kOnnxFloat, {2});
  model.Node(OnnxNode("Add", {"x", "w"}, {"y"})).Initializer(initializer);
  return model;
}

}  // namespace owml::test
