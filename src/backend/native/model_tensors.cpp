// Names, shapes and types of the tensors of a decoder.
// Every tensor of the file must have a place, so that none is ignored.
#include "backend/native/model_tensors.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "backend/native/packed_matrix.h"
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

  // Nothing where the file has none.
  TensorPart FindMatrix(const std::string& name, uint64_t columns, uint64_t rows) {
    const GgufTensor* tensor = Find(name, columns, rows);
    if (tensor && !WeightTypeOf(tensor->type)) {
      NotSupported("tensor " + Quoted(name) + " has the element type " + std::string(InfoOf(tensor->type).name));
    }
    return {tensor, 0, rows};
  }
  TensorPart FindVector(const std::string& name, uint64_t count) {
    const GgufTensor* tensor = Find(name, count, 1);
    if (tensor && tensor->type != GgmlType::kF32) {
      NotSupported("tensor " + Quoted(name) + " has the element type " + std::string(InfoOf(tensor->type).name) +
                   "; norms, biases and factors are f32");
    }
    return {tensor, 0, count};
  }

  TensorPart Matrix(const std::string& name, uint64_t columns, uint64_t rows) {
    return Required(name, FindMatrix(name, columns, rows));
  }
  TensorPart Vector(const std::string& name, uint64_t count) { return Required(name, FindVector(name, count)); }

  void RequireAny() const {
    if (tensors_.empty()) throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), label_ + " holds no weights");
  }
  void RequireEmpty() const {
    if (!tensors_.empty()) NotSupported("there is a tensor " + Quoted(tensors_.begin()->first));
  }

 private:
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

  TensorPart Required(const std::string& name, TensorPart part) const {
    if (!part) ThrowBadData(label_, "the tensor " + Quoted(name) + " is missing");
    return part;
  }

  [[noreturn]] void NotSupported(const std::string& what) const {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                label_ + ": " + what + ", which the native engine does not know");
  }

  std::string label_;
  std::unordered_map<std::string_view, const GgufTensor*> tensors_;
};

// The next `count` rows or values of a tensor that holds several parts one after the other.
TensorPart TakePart(TensorPart* rest, uint64_t count) {
  if (!*rest) return {};
  const TensorPart part{rest->tensor, rest->first, count};
  rest->first += count;
  rest->count -= count;
  return part;
}

void FindQueryKeyValue(TensorTable& table, const std::string& block, const ModelPlan& plan,
                       ModelTensors::Layer* layer) {
  const uint64_t q = plan.query_width(), kv = plan.kv_width();
  if (TensorPart fused = table.FindMatrix(block + "attn_qkv.weight", plan.width, q + 2 * kv)) {
    layer->query = TakePart(&fused, q);
    layer->key = TakePart(&fused, kv);
    layer->value = TakePart(&fused, kv);
  } else {
    layer->query = table.Matrix(block + "attn_q.weight", plan.width, q);
    layer->key = table.Matrix(block + "attn_k.weight", plan.width, kv);
    layer->value = table.Matrix(block + "attn_v.weight", plan.width, kv);
  }
  if (TensorPart fused = table.FindVector(block + "attn_qkv.bias", q + 2 * kv)) {
    layer->query_bias = TakePart(&fused, q);
    layer->key_bias = TakePart(&fused, kv);
    layer->value_bias = TakePart(&fused, kv);
  } else {
    layer->query_bias = table.FindVector(block + "attn_q.bias", q);
    layer->key_bias = table.FindVector(block + "attn_k.bias", kv);
    layer->value_bias = table.FindVector(block + "attn_v.bias", kv);
  }
}

void FindGateUp(TensorTable& table, const std::string& block, const ModelPlan& plan, ModelTensors::Layer* layer) {
  const uint64_t f = plan.feed_forward;
  if (plan.gate_in_up) {
    TensorPart both = table.Matrix(block + "ffn_up.weight", plan.width, 2 * f);
    layer->gate = TakePart(&both, f);
    layer->up = TakePart(&both, f);
    return;
  }
  layer->gate = table.Matrix(block + "ffn_gate.weight", plan.width, f);
  layer->gate_bias = table.FindVector(block + "ffn_gate.bias", f);
  layer->up = table.Matrix(block + "ffn_up.weight", plan.width, f);
  layer->up_bias = table.FindVector(block + "ffn_up.bias", f);
}

ModelTensors::Layer FindLayer(TensorTable& table, const std::string& block, const ModelPlan& plan) {
  const uint64_t d = plan.width;
  ModelTensors::Layer layer;
  layer.attention_norm = table.Vector(block + "attn_norm.weight", d);
  FindQueryKeyValue(table, block, plan, &layer);
  if (plan.head_norms) {
    layer.query_norm = table.Vector(block + "attn_q_norm.weight", plan.head_width);
    layer.key_norm = table.Vector(block + "attn_k_norm.weight", plan.head_width);
  }
  layer.output = table.Matrix(block + "attn_output.weight", plan.query_width(), d);
  layer.output_bias = table.FindVector(block + "attn_output.bias", d);
  layer.feed_forward_norm = table.Vector(block + "ffn_norm.weight", d);
  FindGateUp(table, block, plan, &layer);
  layer.down = table.Matrix(block + "ffn_down.weight", plan.feed_forward, d);
  layer.down_bias = table.FindVector(block + "ffn_down.bias", d);
  if (plan.post_norms) {
    layer.post_attention_norm = table.Vector(block + "post_attention_norm.weight", d);
    layer.post_feed_forward_norm = table.Vector(block + "post_ffw_norm.weight", d);
  }
  return layer;
}

}  // namespace

ModelTensors FindTensors(const std::vector<GgufFile>& files, const ModelPlan& plan) {
  TensorTable table(files, plan.label);
  table.RequireAny();
  ModelTensors tensors;
  tensors.embedding = table.Matrix("token_embd.weight", plan.width, plan.vocabulary);
  if (plan.vocabulary == 0) ThrowBadData(plan.label, "its vocabulary holds no tokens");
  tensors.output_norm = table.Vector("output_norm.weight", plan.width);
  tensors.head = table.FindMatrix("output.weight", plan.width, plan.vocabulary);
  if (!tensors.head) tensors.head = tensors.embedding;
  tensors.head_bias = table.FindVector("output.bias", plan.vocabulary);
  if (plan.rope_factors == RopeFactors::kFrequencies) {
    tensors.long_factors = tensors.short_factors = table.FindVector("rope_freqs.weight", plan.rotated / 2);
  } else if (plan.rope_factors == RopeFactors::kShortAndLong) {
    tensors.long_factors = table.FindVector("rope_factors_long.weight", plan.rotated / 2);
    tensors.short_factors = table.FindVector("rope_factors_short.weight", plan.rotated / 2);
  }
  for (size_t i = 0; i < plan.layers.size(); ++i) {
    tensors.layers.push_back(FindLayer(table, "blk." + std::to_string(i) + ".", plan));
  }
  table.RequireEmpty();
  return tensors;
}

}  // namespace owml::native
