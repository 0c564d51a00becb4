// The layers of the Llama family, in the order of the paper.
// Work is divided so that no sum depends on the division: by rows of a matrix, tokens, heads, and absolute segments of
// positions.
#include "backend/native/llama_forward.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace owml::native {

using kernels::kAttentionSegment;
using kernels::kBlock;
using kernels::kMaxAttendRows;
using kernels::Q8Block;

namespace {

// Rows of a matrix that one piece of work computes: two panels, and one block of the next matrix's input.
constexpr size_t kUnitRows = 2 * kernels::kPanelRows;
static_assert(kUnitRows == kBlock);

constexpr size_t Units(size_t rows) { return (rows + kUnitRows - 1) / kUnitRows; }

// Pieces for each thread: enough that one slow thread holds nobody up for long.
constexpr size_t kPiecesPerThread = 6;

bool AnyQuantized(std::initializer_list<const PackedMatrix*> matrices) {
  return std::any_of(matrices.begin(), matrices.end(), [](const PackedMatrix* m) { return m->quantized(); });
}

}  // namespace

LlamaForward::LlamaForward(std::shared_ptr<const LlamaWeights> weights, const ForwardSettings& settings,
                           const kernels::Kernels& kernels)
    : weights_(std::move(weights)),
      p_(weights_->parameters()),
      settings_(settings),
      kernels_(kernels),
      pool_(settings.threads),
      cache_({p_.layers, p_.kv_heads, p_.head_width, settings.capacity}) {
  settings_.batch_size = static_cast<uint32_t>(std::min<uint64_t>(settings.batch_size, settings.capacity));
  arena_ = FilledArena("the work buffers of " + p_.label, [this](Arena& arena) { Place(arena); });
}

LlamaForward::Activations LlamaForward::TakeActivations(Arena& arena, uint64_t width, bool may_quantize) {
  Activations activations;
  activations.width = width;
  activations.f32 = arena.Take<float>(settings_.batch_size * width);
  if (may_quantize) activations.q8 = arena.Take<Q8Block>(settings_.batch_size * (width / kBlock));
  return activations;
}

void LlamaForward::Place(Arena& arena) {
  const uint64_t n = settings_.batch_size;
  const uint64_t state = kernels::AttentionStateSize(p_.head_width);
  const uint64_t segments = (settings_.capacity + kAttentionSegment - 1) / kAttentionSegment;
  x_ = arena.Take<float>(n * p_.width);
  normed_ = TakeActivations(arena, p_.width, p_.width % kBlock == 0);
  queries_ = arena.Take<float>(n * p_.query_width());
  keys_ = arena.Take<float>(n * p_.kv_width());
  values_ = arena.Take<float>(n * p_.kv_width());
  attended_ = TakeActivations(arena, p_.query_width(), p_.query_width() % kBlock == 0);
  gated_ = TakeActivations(arena, p_.feed_forward, p_.feed_forward % kBlock == 0);
  cosines_ = arena.Take<float>(n * p_.rotated);
  sines_ = arena.Take<float>(n * p_.rotated);
  gate_up_ = arena.Take<float>(pool_.size() * 2 * n * kUnitRows);
  states_ = arena.Take<float>(pool_.size() * 2 * kMaxAttendRows * state);
  segments_ = arena.Take<float>(p_.heads * segments * state);
}

void LlamaForward::Run(std::span<const int32_t> tokens, uint64_t position, LogitRows rows, float* logits) noexcept {
  while (!tokens.empty()) {
    const auto batch = tokens.first(std::min<size_t>(tokens.size(), settings_.batch_size));
    tokens = tokens.subspan(batch.size());
    const auto n = static_cast<uint32_t>(batch.size());

    Embed(batch);  // x = E[tokens]
    ComputeAngles(position, n);
    for (uint32_t layer = 0; layer < p_.layers; ++layer) {
      SelfAttention(layer, position, n);  // x += Attention(Norm(x)) Wo
      FeedForward(layer, n);              // x += (SiLU(Norm(x) Wg) * Norm(x) Wu) Wd
    }
    if (rows == LogitRows::kAll) {
      Head(0, n, logits);
      logits += size_t{n} * p_.vocabulary;
    } else if (rows == LogitRows::kLast && tokens.empty()) {
      Head(n - 1, 1, logits);  // the others are read by nobody
    }
    position += n;
  }
}

template <class Work>
void LlamaForward::ForEachToken(uint32_t n, Work&& work) {
  constexpr uint32_t kTokensAtOnce = 8;
  pool_.Run((n + kTokensAtOnce - 1) / kTokensAtOnce, [&](uint32_t piece, uint32_t) noexcept {
    const uint32_t end = std::min(n, (piece + 1) * kTokensAtOnce);
    for (uint32_t token = piece * kTokensAtOnce; token < end; ++token) work(token);
  });
}

void LlamaForward::Embed(std::span<const int32_t> tokens) {
  ForEachToken(static_cast<uint32_t>(tokens.size()),
               [&](uint32_t i) { weights_->Embed(tokens[i], x_ + size_t{i} * p_.width); });
}

void LlamaForward::ComputeAngles(uint64_t position, uint32_t n) {
  ForEachToken(n, [&](uint32_t i) {
    float* cosines = cosines_ + size_t{i} * p_.rotated;
    float* sines = sines_ + size_t{i} * p_.rotated;
    for (const double step : weights_->angles()) {
      const double angle = static_cast<double>(position + i) * step;
      *cosines++ = static_cast<float>(std::cos(angle));
      *cosines++ = static_cast<float>(std::cos(angle));
      *sines++ = static_cast<float>(-std::sin(angle));
      *sines++ = static_cast<float>(std::sin(angle));
    }
  });
}

void LlamaForward::SelfAttention(uint32_t index, uint64_t position, uint32_t n) {
  const LlamaWeights::Layer& layer = weights_->layers()[index];
  Normalize(x_, layer.attention_norm, n, AnyQuantized({&layer.query, &layer.key, &layer.value}));  // h    [n, D]
  Multiply(normed_, n, {{&layer.query, queries_}, {&layer.key, keys_}, {&layer.value, values_}});  // q    [n, H d]
  RotateAndStore(index, position, n);                                                              // k, v [n, K d]
  Attend(index, position, n);                                                                      // a    [n, H d]
  if (layer.output.quantized()) Quantize(attended_, n);
  Multiply(attended_, n, {{&layer.output, x_, /*accumulate=*/true}});  // x += a Wo
}

void LlamaForward::FeedForward(uint32_t index, uint32_t n) {
  const LlamaWeights::Layer& layer = weights_->layers()[index];
  Normalize(x_, layer.feed_forward_norm, n, AnyQuantized({&layer.gate, &layer.up}));  // h [n, D]
  GateUp(layer, n);                                                                   // g [n, F]
  Multiply(gated_, n, {{&layer.down, x_, /*accumulate=*/true}});                      // x += g Wd
}

void LlamaForward::Head(uint32_t first, uint32_t n, float* logits) {
  Normalize(x_ + size_t{first} * p_.width, weights_->output_norm(), n, weights_->head().quantized());
  Multiply(normed_, n, {{&weights_->head(), logits}});  // [n, V]
}

void LlamaForward::Normalize(const float* x, const float* weight, uint32_t n, bool quantize) {
  ForEachToken(n, [&](uint32_t i) {
    float* out = normed_.f32 + size_t{i} * p_.width;
    kernels_.rms_norm(x + size_t{i} * p_.width, weight, p_.width, p_.epsilon, out);
    if (quantize) kernels_.quantize(out, p_.width, normed_.q8 + size_t{i} * (p_.width / kBlock));
  });
}

void LlamaForward::Quantize(const Activations& x, uint32_t n) {
  ForEachToken(n, [&](uint32_t i) {
    kernels_.quantize(x.f32 + size_t{i} * x.width, x.width, x.q8 + size_t{i} * (x.width / kBlock));
  });
}

// One job over the rows of all products.
void LlamaForward::Multiply(const Activations& x, uint32_t n, std::initializer_list<Product> products) {
  size_t units = 0;
  for (const Product& product : products) units += Units(product.matrix->rows);
  const size_t pieces = std::min<size_t>(units, pool_.size() * kPiecesPerThread);
  pool_.Run(static_cast<uint32_t>(pieces), [&](uint32_t piece, uint32_t) noexcept {
    size_t begin = units * piece / pieces, end = units * (piece + 1) / pieces;
    for (const Product& product : products) {
      const PackedMatrix& matrix = *product.matrix;
      const size_t count = Units(matrix.rows);
      if (begin < std::min(end, count)) {
        const size_t row = begin * kUnitRows;
        kernels_.Matmul(matrix.type)({.panels = matrix.panel(row / kernels::kPanelRows),
                                      .rows = std::min(matrix.rows, std::min(end, count) * kUnitRows) - row,
                                      .columns = matrix.columns,
                                      .q8 = x.q8,
                                      .f32 = x.f32,
                                      .tokens = n,
                                      .out = product.out + row,
                                      .out_stride = matrix.rows,
                                      .accumulate = product.accumulate});
      }
      if (end <= count) break;
      begin = begin > count ? begin - count : 0;
      end -= count;
    }
  });
}

// gate, up and their product for 32 outputs at a time, which stay in the cache of the processor that computes them.
void LlamaForward::GateUp(const LlamaWeights::Layer& layer, uint32_t n) {
  const auto units = static_cast<uint32_t>(Units(p_.feed_forward));
  const auto pieces = static_cast<uint32_t>(std::min<size_t>(units, pool_.size() * kPiecesPerThread));
  pool_.Run(pieces, [&](uint32_t piece, uint32_t thread) noexcept {
    float* gate = gate_up_ + size_t{thread} * 2 * settings_.batch_size * kUnitRows;
    float* up = gate + size_t{settings_.batch_size} * kUnitRows;
    const auto product = [&](const PackedMatrix& matrix, size_t row, size_t rows, float* out) {
      kernels_.Matmul(matrix.type)({.panels = matrix.panel(row / kernels::kPanelRows),
                                    .rows = rows,
                                    .columns = matrix.columns,
                                    .q8 = normed_.q8,
                                    .f32 = normed_.f32,
                                    .tokens = n,
                                    .out = out,
                                    .out_stride = kUnitRows,
                                    .accumulate = false});
    };
    for (size_t unit = size_t{units} * piece / pieces; unit < size_t{units} * (piece + 1) / pieces; ++unit) {
      const size_t row = unit * kUnitRows;
      const size_t rows = std::min<size_t>(kUnitRows, p_.feed_forward - row);
      product(layer.gate, row, rows, gate);
      product(layer.up, row, rows, up);
      for (uint32_t i = 0; i < n; ++i) {
        float* g = gate + i * kUnitRows;
        kernels_.silu_multiply(g, up + i * kUnitRows, rows);
        if (layer.down.quantized()) {
          kernels_.quantize(g, kBlock, gated_.q8 + size_t{i} * (p_.feed_forward / kBlock) + unit);
        } else {
          std::copy_n(g, rows, gated_.f32 + size_t{i} * p_.feed_forward + row);
        }
      }
    }
  });
}

void LlamaForward::RotateAndStore(uint32_t layer, uint64_t position, uint32_t n) {
  const uint32_t d = p_.head_width;
  const float scale = 1.0f / std::sqrt(static_cast<float>(d));
  ForEachToken(n, [&](uint32_t i) {
    const float* cosines = cosines_ + size_t{i} * p_.rotated;
    const float* sines = sines_ + size_t{i} * p_.rotated;
    float* q = queries_ + size_t{i} * p_.query_width();
    float* k = keys_ + size_t{i} * p_.kv_width();
    const float* v = values_ + size_t{i} * p_.kv_width();
    for (uint32_t head = 0; head < p_.heads; ++head) kernels_.rotate_pairs(q + head * d, cosines, sines, p_.rotated);
    kernels_.scale(q, scale, p_.query_width());
    for (uint32_t head = 0; head < p_.kv_heads; ++head) {
      kernels_.rotate_pairs(k + head * d, cosines, sines, p_.rotated);
      kernels_.store_key(k + head * d, d, cache_.keys(layer, head), position + i);
      kernels_.store_value(v + head * d, d, cache_.values(layer, head), position + i);
    }
  });
}

void LlamaForward::Attend(uint32_t layer, uint64_t position, uint32_t n) {
  if (n == 1) return AttendOneToken(layer, position);
  pool_.Run(n * p_.kv_heads, [&](uint32_t piece, uint32_t thread) noexcept {
    // Late tokens take longest and come first.
    AttendHead(layer, position, n - 1 - piece / p_.kv_heads, piece % p_.kv_heads, thread);
  });
}

// The query heads of one token that share a KV head, over all segments in order.
void LlamaForward::AttendHead(uint32_t layer, uint64_t position, uint32_t token, uint32_t kv_head, uint32_t thread) {
  const size_t state_size = kernels::AttentionStateSize(p_.head_width);
  float* total = states_ + size_t{thread} * 2 * kMaxAttendRows * state_size;
  float* part = total + kMaxAttendRows * state_size;
  const uint64_t length = position + token + 1;
  const size_t first = size_t{token} * p_.query_width() + size_t{kv_head} * p_.group() * p_.head_width;
  for (size_t row = 0; row < p_.group(); row += kMaxAttendRows) {
    const size_t rows = std::min<size_t>(kMaxAttendRows, p_.group() - row);
    for (uint64_t begin = 0; begin < length; begin += kAttentionSegment) {
      kernels_.attend({.queries = queries_ + first + row * p_.head_width,
                       .rows = rows,
                       .width = p_.head_width,
                       .keys = cache_.keys(layer, kv_head),
                       .values = cache_.values(layer, kv_head),
                       .begin = begin,
                       .end = std::min(length, begin + kAttentionSegment),
                       .states = begin == 0 ? total : part});
      if (begin == 0) continue;
      for (size_t r = 0; r < rows; ++r) {
        kernels_.merge_attention(total + r * state_size, part + r * state_size, p_.head_width);
      }
    }
    for (size_t r = 0; r < rows; ++r) {
      kernels_.finish_attention(total + r * state_size, p_.head_width,
                                attended_.f32 + first + (row + r) * p_.head_width);
    }
  }
}

// Segments are computed side by side and merged in the order in which AttendHead takes them.
void LlamaForward::AttendOneToken(uint32_t layer, uint64_t position) {
  const size_t state_size = kernels::AttentionStateSize(p_.head_width);
  const uint64_t length = position + 1;
  const auto segments = static_cast<uint32_t>((length + kAttentionSegment - 1) / kAttentionSegment);
  const auto tiles = static_cast<uint32_t>((p_.group() + kMaxAttendRows - 1) / kMaxAttendRows);
  // [segment][head]
  pool_.Run(p_.kv_heads * tiles * segments, [&](uint32_t piece, uint32_t) noexcept {
    const uint32_t kv_head = piece / segments / tiles;
    const size_t row = size_t{piece / segments % tiles} * kMaxAttendRows;
    const uint64_t begin = uint64_t{piece % segments} * kAttentionSegment;
    const size_t head = size_t{kv_head} * p_.group() + row;
    kernels_.attend({.queries = queries_ + head * p_.head_width,
                     .rows = std::min<size_t>(kMaxAttendRows, p_.group() - row),
                     .width = p_.head_width,
                     .keys = cache_.keys(layer, kv_head),
                     .values = cache_.values(layer, kv_head),
                     .begin = begin,
                     .end = std::min(length, begin + kAttentionSegment),
                     .states = segments_ + (piece % segments * p_.heads + head) * state_size});
  });
  for (size_t head = 0; head < p_.heads; ++head) {
    float* total = segments_ + head * state_size;
    for (size_t segment = 1; segment < segments; ++segment) {
      kernels_.merge_attention(total, segments_ + (segment * p_.heads + head) * state_size, p_.head_width);
    }
    kernels_.finish_attention(total, p_.head_width, attended_.f32 + head * p_.head_width);
  }
}

}  // namespace owml::native
