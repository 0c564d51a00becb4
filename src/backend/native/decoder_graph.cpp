// The layers of a decoder, in the order of the paper.
// Shapes: n tokens, D width, H query heads and K key-value heads of d, F feed-forward width, V vocabulary.
#include "backend/native/decoder_graph.h"

#include <numbers>
#include <optional>

namespace owml::native {
namespace {

using Layer = ModelWeights::Layer;

class Recorder {
 public:
  Recorder(const ModelPlan& plan, const DecoderMemory& memory, uint64_t tokens, bool all_read)
      : p_(plan), memory_(memory), w_(memory.weights), all_read_(all_read), graph_(tokens, tokens) {}

  Graph Record() {
    Tensor x =
        graph_.Embed(w_.embedding_type(), w_.embedding(), p_.width, p_.embedding_scale);  // x = E[tokens]  [n, D]
    for (uint32_t layer = 0; layer < p_.layers.size(); ++layer) {
      graph_.BeginLayer(layer);
      SelfAttention(layer, &x);                   // x += Attention(Norm(x)) Wo
      FeedForward(w_.host().layers()[layer], x);  // x += (SiLU(Norm(x) Wg) * Norm(x) Wu) Wd
    }
    Head(x);  // Norm(x) We
    return std::move(graph_);
  }

 private:
  void SelfAttention(uint32_t index, Tensor* x) {
    const Layer& layer = w_.host().layers()[index];
    const LayerPlan& plan = p_.layers[index];
    const CacheLayer& cache = memory_.caches[index];
    const bool take_rows = !all_read_ && index + 1 == p_.layers.size();

    const Tensor h = Norm(*x, layer.attention_norm);  // [n, D]
    Tensor read = h;
    if (take_rows) {
      *x = graph_.TakeRows(*x);
      read = Norm(*x, layer.attention_norm);
    }
    const Tensor q = Product("query", read, layer.query, layer.query_bias);  // [n, H d]
    const Tensor k = Product("key", h, layer.key, layer.key_bias);           // [n, K d]
    const Tensor v = Product("value", h, layer.value, layer.value_bias);     // [n, K d]
    const Tensor heads = q.Split(1, p_.head_width), key_heads = k.Split(1, p_.head_width);
    if (layer.query_norm) graph_.Normalize(heads, w_.Of(layer.query_norm), p_.epsilon);
    if (layer.key_norm) graph_.Normalize(key_heads, w_.Of(layer.key_norm), p_.epsilon);
    Rotate(heads, plan.rope, take_rows ? RowSet::kRead : RowSet::kTokens);
    Rotate(key_heads, plan.rope, RowSet::kTokens);
    graph_.Scale(q, p_.query_scale * std::numbers::log2e_v<float>);
    graph_.Append(key_heads, v.Split(1, p_.head_width), cache);
    const Tensor a = graph_.Attend(heads, cache, p_.score_cap * std::numbers::log2e_v<float>);     // [n, H d]
    Branch(*x, Product("output", a, layer.output, layer.output_bias), layer.post_attention_norm);  // x += a Wo
  }

  void FeedForward(const Layer& layer, const Tensor& x) {
    const Tensor h = Norm(x, layer.feed_forward_norm);                 // [n, D]
    const Tensor g = Product("gate", h, layer.gate, layer.gate_bias);  // [n, F]
    const Tensor u = Product("up", h, layer.up, layer.up_bias);        // [n, F]
    graph_.Activate("activation", g, u, p_.activation);
    Branch(x, Product("down", g, layer.down, layer.down_bias), layer.post_feed_forward_norm);  // x += g Wd
  }

  void Head(const Tensor& x) {
    const Tensor h = Norm(x, w_.host().output_norm());
    const float* bias = w_.host().head_bias();
    graph_.Head(h, w_.Of(w_.host().head()), bias ? w_.Of(bias) : 0, p_.logit_scale, p_.logit_cap, memory_.most_best);
  }

  Tensor Norm(const Tensor& x, const float* weight) { return graph_.RmsNorm(x, w_.Of(weight), p_.epsilon); }

  // x W + b
  Tensor Product(const char* name, const Tensor& x, const PackedMatrix& matrix, const float* bias) {
    const Tensor out = graph_.MatMul(name, x, w_.Of(matrix));
    if (bias) graph_.AddVector(out, w_.Of(bias));
    return out;
  }

  // x += r Norm(y), with what the model has of it
  void Branch(const Tensor& x, const Tensor& y, const float* post_norm) {
    if (post_norm) graph_.Normalize(y, w_.Of(post_norm), p_.epsilon);
    graph_.AddScaled(x, y, p_.residual_scale);
  }

  void Rotate(const Tensor& heads, uint32_t rope, RowSet rows) {
    if (p_.rotated != 0) graph_.Rotate(heads, AnglesOf(rope, rows), p_.rope_order);
  }

  // Once for all layers that share them.
  const Graph::RopeAngles& AnglesOf(uint32_t rope, RowSet rows) {
    std::vector<std::optional<Graph::RopeAngles>>& angles = angles_[static_cast<size_t>(rows)];
    angles.resize(p_.ropes.size());
    if (!angles[rope]) {
      angles[rope] = graph_.Angles(rows, memory_.rope_steps[rope], p_.rotated,
                                   static_cast<float>(p_.ropes[rope].magnitude), p_.rope_order);
    }
    return *angles[rope];
  }

  const ModelPlan& p_;
  const DecoderMemory& memory_;
  const DeviceWeights& w_;
  const bool all_read_;
  Graph graph_;
  std::vector<std::optional<Graph::RopeAngles>> angles_[2];  // by RowSet and ModelPlan::ropes
};

}  // namespace

Graph RecordDecoder(const ModelPlan& plan, const DecoderMemory& memory, uint64_t tokens, bool all_read) {
  return Recorder(plan, memory, tokens, all_read).Record();
}

}  // namespace owml::native
