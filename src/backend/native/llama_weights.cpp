// From a file's tensors to packed weights of the Llama family.
// Every tensor of the file must have a place, so that none is ignored.
#include "backend/native/llama_weights.h"

#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/cpu_info.h"
#include "base/error.h"
#include "formats/bad_data.h"

namespace owml::native {
namespace {

class TensorTable {
 public:
  TensorTable(const std::vector<GgufFile>& files, std::string label) : label_(std::move(label)) {
    for (const GgufFile& file : files) {
      for (const GgufTensor& tensor : file.tensors()) tensors_.emplace(tensor.name, &tensor);
    }
  }

  // Null where the file has none.
  const GgufTensor* Find(const std::string& name, uint64_t columns, uint64_t rows) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return nullptr;
    const GgufTensor* tensor = found->second;
    tensors_.erase(found);
    if (tensor->dims != std::array<uint64_t, kGgufMaxDims>{columns, rows, 1, 1}) {
      ThrowBadData(label_, "tensor " + Quoted(name) + " has the shape " + tensor->ShapeText() +
                               "; the metadata asks for [" + std::to_string(columns) +
                               (rows == 1 ? "" : ", " + std::to_string(rows)) + "]");
    }
    return tensor;
  }

  const GgufTensor* Matrix(const std::string& name, uint64_t columns, uint64_t rows) {
    const GgufTensor* tensor = Require(name, columns, rows);
    RequireWeightType(*tensor);
    return tensor;
  }

  const GgufTensor* Vector(const std::string& name, uint64_t count) {
    const GgufTensor* tensor = Require(name, count, 1);
    RequireFloat(*tensor);
    return tensor;
  }

  void RequireWeightType(const GgufTensor& tensor) const {
    if (!WeightTypeOf(tensor.type)) {
      NotSupported("tensor " + Quoted(tensor.name) + " has the element type " + std::string(InfoOf(tensor.type).name));
    }
  }

  void RequireFloat(const GgufTensor& tensor) const {
    if (tensor.type != GgmlType::kF32) {
      NotSupported("tensor " + Quoted(tensor.name) + " has the element type " + std::string(InfoOf(tensor.type).name) +
                   "; norms and factors are f32");
    }
  }

  void RequireEmpty() const {
    if (!tensors_.empty()) NotSupported("there is a tensor " + Quoted(tensors_.begin()->first));
  }

 private:
  const GgufTensor* Require(const std::string& name, uint64_t columns, uint64_t rows) {
    const GgufTensor* tensor = Find(name, columns, rows);
    if (!tensor) ThrowBadData(label_, "the tensor " + Quoted(name) + " is missing");
    return tensor;
  }

  [[noreturn]] void NotSupported(const std::string& what) const {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                label_ + ": " + what + ", which the native engine does not know; OWML_ENGINE=llama may");
  }

  std::string label_;
  std::unordered_map<std::string_view, const GgufTensor*> tensors_;
};

}  // namespace

LlamaTensors FindLlamaTensors(const std::vector<GgufFile>& files, const LlamaParameters& p) {
  TensorTable table(files, p.label);
  LlamaTensors tensors;
  tensors.embedding = table.Matrix("token_embd.weight", p.width, p.vocabulary);
  tensors.output_norm = table.Vector("output_norm.weight", p.width);
  tensors.head = table.Find("output.weight", p.width, p.vocabulary);
  if (tensors.head) {
    table.RequireWeightType(*tensors.head);
  } else {
    tensors.head = tensors.embedding;
  }
  tensors.rope_frequencies = table.Find("rope_freqs.weight", p.rotated / 2, 1);
  if (tensors.rope_frequencies) table.RequireFloat(*tensors.rope_frequencies);
  for (uint32_t i = 0; i < p.layers; ++i) {
    const std::string block = "blk." + std::to_string(i) + ".";
    LlamaTensors::Layer layer;
    layer.attention_norm = table.Vector(block + "attn_norm.weight", p.width);
    layer.query = table.Matrix(block + "attn_q.weight", p.width, p.query_width());
    layer.key = table.Matrix(block + "attn_k.weight", p.width, p.kv_width());
    layer.value = table.Matrix(block + "attn_v.weight", p.width, p.kv_width());
    layer.output = table.Matrix(block + "attn_output.weight", p.query_width(), p.width);
    layer.feed_forward_norm = table.Vector(block + "ffn_norm.weight", p.width);
    layer.gate = table.Matrix(block + "ffn_gate.weight", p.width, p.feed_forward);
    layer.up = table.Matrix(block + "ffn_up.weight", p.width, p.feed_forward);
    layer.down = table.Matrix(block + "ffn_down.weight", p.feed_forward, p.width);
    tensors.layers.push_back(layer);
  }
  table.RequireEmpty();
  return tensors;
}

LlamaWeights::LlamaWeights(std::shared_ptr<const std::vector<GgufFile>> files, const LlamaParameters& parameters,
                           const LlamaTensors& tensors)
    : files_(std::move(files)),
      parameters_(parameters),
      embedding_(tensors.embedding->data.data()),
      embedding_type_(WeightTypeOf(tensors.embedding->type).value()),
      layers_(tensors.layers.size()) {
  ThreadPool pool(UsableCpuCount());
  arena_ = FilledArena("the weights of " + parameters_.label, [&](Arena& arena) { PackAll(tensors, pool, arena); });
  MakeAngles(tensors.rope_frequencies);
}

void LlamaWeights::PackAll(const LlamaTensors& tensors, ThreadPool& pool, Arena& arena) {
  const bool measuring = arena.capacity() == 0;
  const auto matrix = [&](const GgufTensor* tensor, PackedMatrix* packed) {
    *packed = UnpackedMatrix(*tensor);
    auto* memory = arena.Take<std::byte>(packed->bytes());
    if (!measuring) Pack(*tensor, parameters_.label, pool, memory, packed);
  };
  const auto vector = [&](const GgufTensor* tensor, const float** values) {
    auto* memory = arena.Take<float>(tensor->dims[0]);
    *values = memory;
    if (measuring) return;
    std::memcpy(memory, tensor->data.data(), tensor->dims[0] * sizeof(float));
    for (uint64_t i = 0; i < tensor->dims[0]; ++i) {
      if (!std::isfinite(memory[i])) {
        ThrowBadData(parameters_.label, "tensor " + Quoted(tensor->name) + " holds a weight that is no finite number");
      }
    }
  };
  for (size_t i = 0; i < layers_.size(); ++i) {
    const LlamaTensors::Layer& from = tensors.layers[i];
    Layer& to = layers_[i];
    vector(from.attention_norm, &to.attention_norm);
    matrix(from.query, &to.query);
    matrix(from.key, &to.key);
    matrix(from.value, &to.value);
    matrix(from.output, &to.output);
    vector(from.feed_forward_norm, &to.feed_forward_norm);
    matrix(from.gate, &to.gate);
    matrix(from.up, &to.up);
    matrix(from.down, &to.down);
  }
  vector(tensors.output_norm, &output_norm_);
  matrix(tensors.head, &head_);
}

void LlamaWeights::MakeAngles(const GgufTensor* divisors) {
  angles_.resize(parameters_.rotated / 2);
  for (size_t i = 0; i < angles_.size(); ++i) {
    float divisor = 1;
    if (divisors) std::memcpy(&divisor, divisors->data.data() + i * sizeof(float), sizeof(float));
    if (!(divisor > 0 && std::isfinite(divisor))) {
      ThrowBadData(parameters_.label,
                   "tensor 'rope_freqs.weight' holds " + std::to_string(divisor) + "; its values must be positive");
    }
    angles_[i] = std::pow(parameters_.rope_base, -2.0 * static_cast<double>(i) / parameters_.rotated) /
                 parameters_.rope_scale / divisor;
  }
}

void LlamaWeights::Embed(int32_t token, float* out) const {
  const size_t row_bytes = kernels::RowBytes(embedding_type_, parameters_.width);
  kernels::DequantizeRow(embedding_type_, embedding_ + static_cast<size_t>(token) * row_bytes, parameters_.width, out);
}

}  // namespace owml::native
