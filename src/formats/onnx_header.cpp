// The walk over an ONNX ModelProto. Field numbers are those of onnx.proto; fields not needed are stepped over.
// References to external data are looked for wherever a TensorProto can stand.
#include "formats/onnx_header.h"

#include <algorithm>
#include <array>

#include "base/shape.h"
#include "formats/bad_data.h"
#include "formats/protobuf_reader.h"

namespace owml {
namespace {

struct ElementType {
  std::string_view name;
  int bits;  // 0: no fixed size
};

// Index = TensorProto.DataType.
constexpr std::array<ElementType, 27> kElementTypes = {
    {{"undefined", 0},      {"float", 32},    {"uint8", 8},        {"int8", 8},           {"uint16", 16},
     {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
     {"float16", 16},       {"double", 64},   {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
     {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
     {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},     {"float8e8m0", 8},
     {"uint2", 2},          {"int2", 2}}};

// Five keys are known; the rest is room for later ones.
constexpr size_t kMaxExternalEntries = 32;

class OnnxWalk {
 public:
  OnnxWalk(const std::string& label, OnnxHeader* header) : label_(label), header_(*header) {}

  void Model(ProtobufReader model) {
    bool has_graph = false;
    while (model.Next()) {
      switch (model.field()) {
        case 1:
          header_.ir_version = model.Int64("ir_version");
          break;
        case 2:
          header_.producer_name = model.Text("producer_name");
          break;
        case 3:
          header_.producer_version = model.Text("producer_version");
          break;
        case 6:
          header_.doc_string = model.Text("doc_string");
          break;
        case 7:
          has_graph = true;
          Graph(model.Message("graph"), 1, true);
          break;
        case 8:
          Opset(model.Message("opset_import"));
          break;
        case 20:
          TrainingInfo(model.Message("training_info"));
          break;
        case 25:
          Function(model.Message("functions"));
          break;
        default:
          break;
      }
    }
    if (!has_graph) Bad("the model has no graph");
    std::sort(header_.initializers.begin(), header_.initializers.end());
  }

 private:
  [[noreturn]] void Bad(const std::string& sentence) const { ThrowBadData(label_, "no valid ONNX model: " + sentence); }

  void Opset(ProtobufReader entry) {
    OnnxOpset opset;
    while (entry.Next()) {
      if (entry.field() == 1) opset.domain = entry.Text("opset_import.domain");
      if (entry.field() == 2) opset.version = entry.Int64("opset_import.version");
    }
    header_.opsets.push_back(opset);
  }

  void TrainingInfo(ProtobufReader info) {
    while (info.Next()) {
      if (info.field() == 1) Graph(info.Message("training_info.initialization"), 1, false);
      if (info.field() == 2) Graph(info.Message("training_info.algorithm"), 1, false);
    }
  }

  void Function(ProtobufReader function) {
    while (function.Next()) {
      if (function.field() == 7) Node(function.Message("functions.node"), 1);
      if (function.field() == 11) Attribute(function.Message("functions.attribute_proto"), 1);
    }
  }

  void Graph(ProtobufReader graph, int depth, bool main) {
    if (depth > kOnnxMaxGraphDepth) Bad("graphs are nested more than " + std::to_string(kOnnxMaxGraphDepth) + " deep");
    while (graph.Next()) {
      switch (graph.field()) {
        case 1:
          Node(graph.Message("graph.node"), depth);
          break;
        case 2:
          if (main) header_.graph_name = graph.Text("graph.name");
          break;
        case 5: {
          const size_t external = header_.external_data.size();
          const std::string_view name = Tensor(graph.Message("graph.initializer"));
          if (main) header_.initializers.push_back(name);
          if (main && header_.external_data.size() > external) header_.external_data.back().main_initializer = true;
          break;
        }
        case 11:
          if (main) header_.inputs.push_back(Value(graph.Message("graph.input")));
          break;
        case 12:
          if (main) header_.outputs.push_back(Value(graph.Message("graph.output")));
          break;
        case 15: {
          const std::string_view name = SparseTensor(graph.Message("graph.sparse_initializer"));
          if (main) header_.initializers.push_back(name);
          break;
        }
        default:
          break;
      }
    }
  }

  void Node(ProtobufReader node, int depth) {
    ++header_.node_count;
    while (node.Next()) {
      if (node.field() == 5) Attribute(node.Message("node.attribute"), depth);
    }
  }

  void Attribute(ProtobufReader attribute, int depth) {
    while (attribute.Next()) {
      switch (attribute.field()) {
        case 5:
        case 10:
          Tensor(attribute.Message("attribute.tensor"));
          break;
        case 6:
        case 11:
          Graph(attribute.Message("attribute.graph"), depth + 1, false);
          break;
        case 22:
        case 23:
          SparseTensor(attribute.Message("attribute.sparse_tensor"));
          break;
        default:
          break;
      }
    }
  }

  // The name of a sparse tensor is that of its values.
  std::string_view SparseTensor(ProtobufReader sparse) {
    std::string_view name;
    while (sparse.Next()) {
      if (sparse.field() == 1) name = Tensor(sparse.Message("sparse_tensor.values"));
      if (sparse.field() == 2) Tensor(sparse.Message("sparse_tensor.indices"));
    }
    return name;
  }

  // Returns the name; remembers where the data is when it is not in the file.
  std::string_view Tensor(ProtobufReader tensor) {
    constexpr uint64_t kExternal = 1;
    OnnxExternalData data;
    bool external = false;
    int32_t element_type = 0;
    uint64_t elements = 1;
    bool countable = true;
    std::vector<ProtobufReader> entries;
    while (tensor.Next()) {
      switch (tensor.field()) {
        case 1:
          tensor.Varints("tensor.dims", [&](uint64_t extent) {
            if (extent > static_cast<uint64_t>(INT64_MAX) || __builtin_mul_overflow(elements, extent, &elements))
              countable = false;
            data.dims.push_back(static_cast<int64_t>(extent));
          });
          break;
        case 2:
          element_type = static_cast<int32_t>(tensor.Varint("tensor.data_type"));
          break;
        case 8:
          data.tensor = tensor.Text("tensor.name");
          break;
        case 13:
          if (entries.size() == kMaxExternalEntries)
            Bad("a tensor has more than " + std::to_string(kMaxExternalEntries) + " external_data entries");
          entries.push_back(tensor.Message("tensor.external_data"));
          break;
        case 14:
          external = tensor.Varint("tensor.data_location") == kExternal;
          break;
        default:
          break;
      }
    }
    if (!external) return data.tensor;
    if (!countable) Bad("the extents of the external tensor " + Quoted(data.tensor) + " are negative or too large");
    for (ProtobufReader& entry : entries) ExternalEntry(&entry, &data);
    if (data.location.empty())
      Bad("the tensor " + Quoted(data.tensor) + " is stored outside the file, but names no location");
    // ONNX Runtime's own marker for tensors that it keeps in memory; from a file it would be followed as an address.
    if (data.location.find("_ORT_MEM_ADDR_") != std::string_view::npos) {
      Bad("the data of tensor " + Quoted(data.tensor) + " is at " + Quoted(data.location) +
          ", which stands for an address in memory");
    }
    if (data.length && *data.length > UINT64_MAX - data.offset) {
      Bad("the external data of tensor " + Quoted(data.tensor) + " ends beyond 2^64: offset " +
          std::to_string(data.offset) + ", length " + std::to_string(*data.length));
    }
    data.element_type = element_type;
    data.tensor_bytes = TensorBytes(element_type, elements);
    if (data.length && data.tensor_bytes && *data.length < *data.tensor_bytes) {
      Bad("the external data of tensor " + Quoted(data.tensor) + " has " + std::to_string(*data.length) +
          " bytes; type and shape need " + std::to_string(*data.tensor_bytes));
    }
    header_.external_data.push_back(data);
    return data.tensor;
  }

  void ExternalEntry(ProtobufReader* entry, OnnxExternalData* data) const {
    std::string_view key;
    std::string_view value;
    while (entry->Next()) {
      if (entry->field() == 1) key = entry->Text("external_data.key");
      if (entry->field() == 2) value = entry->Text("external_data.value");
    }
    if (key == "location") data->location = value;
    if (key == "checksum") data->checksum = value;
    if (key == "offset") data->offset = Decimal(data->tensor, key, value);
    if (key == "length") data->length = Decimal(data->tensor, key, value);
  }

  uint64_t Decimal(std::string_view tensor, std::string_view key, std::string_view text) const {
    uint64_t number = 0;
    bool good = !text.empty();
    for (const char c : text) {
      good = good && c >= '0' && c <= '9' && !__builtin_mul_overflow(number, uint64_t{10}, &number) &&
             !__builtin_add_overflow(number, static_cast<uint64_t>(c - '0'), &number);
    }
    if (!good) {
      Bad("the " + std::string(key) + " of the external data of tensor " + Quoted(tensor) + " is " + Quoted(text) +
          ", which is no number of 64 bits");
    }
    return number;
  }

  std::optional<uint64_t> TensorBytes(int32_t element_type, uint64_t elements) const {
    if (element_type <= 0 || element_type >= static_cast<int32_t>(kElementTypes.size())) return std::nullopt;
    const int bits = kElementTypes[static_cast<size_t>(element_type)].bits;
    if (bits == 0) Bad("a tensor of type " + OnnxElementTypeName(element_type) + " cannot be stored outside the file");
    if (bits < 8) {
      const uint64_t per_byte = static_cast<uint64_t>(8 / bits);
      return elements / per_byte + (elements % per_byte != 0);
    }
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(bits / 8), &bytes))
      Bad("an external tensor has more than 2^64 bytes");
    return bytes;
  }

  OnnxValue Value(ProtobufReader info) const {
    OnnxValue value;
    while (info.Next()) {
      if (info.field() == 1) value.name = info.Text("value_info.name");
      if (info.field() == 2) Type(info.Message("value_info.type"), &value);
    }
    return value;
  }

  void Type(ProtobufReader type, OnnxValue* value) const {
    while (type.Next()) {
      switch (type.field()) {
        case 1:
          value->kind = OnnxValueKind::kTensor;
          TensorType(type.Message("type.tensor_type"), value);
          break;
        case 4:
          value->kind = OnnxValueKind::kSequence;
          break;
        case 5:
          value->kind = OnnxValueKind::kMap;
          break;
        case 6:  // denotation
          break;
        case 8:
          value->kind = OnnxValueKind::kSparseTensor;
          TensorType(type.Message("type.sparse_tensor_type"), value);
          break;
        case 9:
          value->kind = OnnxValueKind::kOptional;
          break;
        default:
          value->kind = OnnxValueKind::kOther;
          break;
      }
    }
  }

  void TensorType(ProtobufReader type, OnnxValue* value) const {
    while (type.Next()) {
      if (type.field() == 1) value->element_type = static_cast<int32_t>(type.Varint("tensor_type.elem_type"));
      if (type.field() == 2) {
        value->has_shape = true;
        Shape(type.Message("tensor_type.shape"), value);
      }
    }
  }

  void Shape(ProtobufReader shape, OnnxValue* value) const {
    while (shape.Next()) {
      if (shape.field() != 1) continue;
      ProtobufReader message = shape.Message("shape.dim");
      OnnxDimension dimension;
      while (message.Next()) {
        if (message.field() == 1) dimension.value = message.Int64("dim.dim_value");
        if (message.field() == 2) dimension.symbol = message.Text("dim.dim_param");
      }
      if (value->dims.size() == kMaxRank)
        Bad(Quoted(value->name) + " has more than " + std::to_string(kMaxRank) + " dimensions");
      value->dims.push_back(dimension);
    }
  }

  const std::string& label_;
  OnnxHeader& header_;
};

}  // namespace

bool OnnxHeader::IsInitializer(std::string_view name) const {
  return std::binary_search(initializers.begin(), initializers.end(), name);
}

OnnxHeader ReadOnnxHeader(std::span<const std::byte> bytes, const std::string& label) {
  OnnxHeader header;
  if (bytes.empty()) ThrowBadData(label, "it is empty");
  // Protobuf's own limit; nothing that ONNX Runtime could load is lost.
  if (bytes.size() > static_cast<size_t>(INT32_MAX)) {
    ThrowBadData(label, "an ONNX file has at most 2147483647 bytes, this one has " + std::to_string(bytes.size()) +
                            "; larger weights are stored as external data");
  }
  OnnxWalk(label, &header).Model(ProtobufReader(bytes, label));
  return header;
}

std::string OnnxElementTypeName(int32_t element_type) {
  if (element_type >= 0 && element_type < static_cast<int32_t>(kElementTypes.size())) {
    return std::string(kElementTypes[static_cast<size_t>(element_type)].name);
  }
  return "type " + std::to_string(element_type);
}

}  // namespace owml
