// The layers of a decoder, in the order of the paper.
// Work is divided so that no sum depends on the division: by rows of a matrix or a batch, heads, and absolute segments
// of positions.
#include "backend/native/forward.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend/native/rope.h"

namespace owml::native {

using kernels::kAttentionSegment;
using kernels::kBlock;
using kernels::kMaxAttendRows;
using kernels::Q8Block;

namespace {

bool AnyQuantized(std::initializer_list<const PackedMatrix*> matrices) {
  return std::any_of(matrices.begin(), matrices.end(), [](const PackedMatrix* m) { return m->quantized(); });
}

// No batch is larger than what fits the cache.
ForwardSettings Fitting(ForwardSettings settings) {
  settings.batch_size =
      static_cast<uint32_t>(std::min<uint64_t>(settings.batch_size, settings.capacity * settings.slots));
  return settings;
}

}  // namespace

Forward::Forward(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
                 const kernels::Kernels& kernels)
    : weights_(std::move(weights)),
      p_(weights_->plan()),
      settings_(Fitting(settings)),
      kernels_(kernels),
      pool_(settings.threads),
      cache_(CacheShape()) {
  for (const RopePlan& rope : p_.ropes) {
    Angles angles;
    angles.steps = RopeSteps(p_, rope, weights_->RopeFactorsFor(settings.capacity));
    angles.magnitude = static_cast<float>(rope.magnitude);
    angles_.push_back(std::move(angles));
  }
  arena_ = FilledArena("the work buffers of " + p_.label, Arena::Pages::kHuge, [this](Arena& arena) { Place(arena); });
}

KvCacheShape Forward::CacheShape() const {
  KvCacheShape shape{settings_.slots, p_.kv_heads, p_.head_width, settings_.capacity, settings_.cache_type};
  for (const LayerPlan& layer : p_.layers) shape.windows.push_back(layer.window);
  shape.ahead = std::max(settings_.batch_size, settings_.take_back);
  return shape;
}

Forward::Activations Forward::TakeActivations(Arena& arena, uint64_t width) {
  Activations activations;
  activations.width = width;
  activations.f32 = arena.Take<float>(settings_.batch_size * width);
  if (width % kBlock == 0) activations.q8 = arena.Take<Q8Block>(settings_.batch_size * (width / kBlock));
  return activations;
}

void Forward::Place(Arena& arena) {
  const uint64_t n = settings_.batch_size;
  const uint64_t state = kernels::AttentionStateSize(p_.head_width);
  const uint64_t segments = (settings_.capacity + kAttentionSegment - 1) / kAttentionSegment;
  rows_ = arena.Take<Row>(n);
  tiles_ = arena.Take<Tile>(n);
  x_ = arena.Take<float>(n * p_.width);
  normed_ = TakeActivations(arena, p_.width);
  queries_ = arena.Take<float>(n * p_.query_width());
  keys_ = arena.Take<float>(n * p_.kv_width());
  values_ = arena.Take<float>(n * p_.kv_width());
  attended_ = TakeActivations(arena, p_.query_width());
  gated_ = TakeActivations(arena, p_.feed_forward);
  branch_ = arena.Take<float>(n * p_.width);
  for (Angles& angles : angles_) {
    angles.cosines = arena.Take<float>(n * p_.rotated);
    angles.sines = arena.Take<float>(n * p_.rotated);
  }
  gate_up_ = arena.Take<float>(pool_.size() * 2 * n * kUnitRows);
  states_ = arena.Take<float>(pool_.size() * 2 * kMaxAttendRows * state);
  segments_ = arena.Take<float>(MostSplitRows() * segments * p_.heads * state);
  best_ = arena.Take<TokenLogit>(pool_.size() * n * settings_.best);
}

bool Forward::Run(std::span<const SequenceTokens> sequences, const StepResults& results,
                  CancellationCheck* check) noexcept {
  pool_.FollowAffinity();
  float* logits = results.logits.data();
  TokenLogit* best = results.best.data();
  best_count_ = results.best_count;
  uint32_t n = 0, read = 0;
  for (const SequenceTokens& sequence : sequences) {
    for (size_t i = 0; i < sequence.tokens.size(); ++i) {
      Row& row = rows_[n++];
      row = {sequence.tokens[i], sequence.slot, sequence.position + i, nullptr, nullptr};
      const bool last = i + 1 == sequence.tokens.size();
      if (sequence.rows == LogitRows::kAll || (last && sequence.rows == LogitRows::kLast)) {
        if (sequence.best) {
          row.best = std::exchange(best, best + best_count_);
        } else {
          row.logits = std::exchange(logits, logits + p_.vocabulary);
        }
        ++read;
      }
      if (n < settings_.batch_size) continue;
      if (!RunBatch(n, read, check)) return false;
      n = read = 0;
    }
  }
  return n == 0 || RunBatch(n, read, check);
}

bool Forward::RunBatch(uint32_t n, uint32_t read, CancellationCheck* check) {
  Embed(n);  // x = E[tokens]
  for (Angles& angles : angles_) ComputeAngles(angles, n);
  FindTiles(n);
  for (uint32_t layer = 0; layer < p_.layers.size(); ++layer) {
    if (check && check->canceled()) return false;
    // Of rows that nobody reads the last layer computes keys and values only.
    const uint32_t wanted = layer + 1 < p_.layers.size() ? n : read;
    SelfAttention(layer, n, wanted);  // x += Attention(Norm(x)) Wo
    FeedForward(layer, wanted);       // x += (SiLU(Norm(x) Wg) * Norm(x) Wu) Wd
  }
  Head(read);  // Norm(x) We
  return true;
}

void Forward::Embed(uint32_t n) {
  ForEachRow(n, [&](uint32_t i) {
    float* x = x_ + size_t{i} * p_.width;
    weights_->Embed(rows_[i].token, x);
    if (p_.embedding_scale != 1) kernels_.scale(x, p_.embedding_scale, p_.width);
  });
}

// Cosines and sines stand as the kernel of the model's order reads them.
void Forward::ComputeAngles(Angles& angles, uint32_t n) {
  ForEachRow(n, [&](uint32_t i) {
    float* cosines = angles.cosines + size_t{i} * p_.rotated;
    float* sines = angles.sines + size_t{i} * p_.rotated;
    for (size_t pair = 0; pair < angles.steps.size(); ++pair) {
      const double angle = static_cast<double>(rows_[i].position) * angles.steps[pair];
      const float cosine = angles.magnitude * static_cast<float>(std::cos(angle));
      const float sine = angles.magnitude * static_cast<float>(std::sin(angle));
      if (p_.rope_order == RopeOrder::kHalves) {
        cosines[pair] = cosine;
        sines[pair] = sine;
      } else {
        cosines[2 * pair] = cosines[2 * pair + 1] = cosine;
        sines[2 * pair] = -sine;
        sines[2 * pair + 1] = sine;
      }
    }
  });
}

// Afterwards the first `wanted` rows are those that are read, where they are fewer than n.
void Forward::SelfAttention(uint32_t index, uint32_t n, uint32_t wanted) {
  const ModelWeights::Layer& layer = weights_->layers()[index];
  Normalize(layer.attention_norm, n, AnyQuantized({&layer.query, &layer.key, &layer.value}));  // h    [n, D]
  if (wanted == n) {
    Multiply(normed_, n, {{&layer.query, queries_}, {&layer.key, keys_}, {&layer.value, values_}});  // q    [n, H d]
    RotateAndStoreKeys(index, n);
  } else {
    Multiply(normed_, n, {{&layer.key, keys_}, {&layer.value, values_}});  // k, v [n, K d]
    RotateAndStoreKeys(index, n);
    KeepReadRows(n);
    Multiply(normed_, wanted, {{&layer.query, queries_}});
  }
  RotateQueries(index, wanted);
  Attend(index, wanted);  // a    [n, H d]
  if (layer.output.quantized()) Quantize(attended_, wanted);
  AddBranch(attended_, layer.output, layer.output_bias, layer.post_attention_norm, wanted);  // x += a Wo
}

void Forward::FeedForward(uint32_t index, uint32_t n) {
  const ModelWeights::Layer& layer = weights_->layers()[index];
  Normalize(layer.feed_forward_norm, n, AnyQuantized({&layer.gate, &layer.up}));    // h [n, D]
  GateUp(layer, n);                                                                 // g [n, F]
  AddBranch(gated_, layer.down, layer.down_bias, layer.post_feed_forward_norm, n);  // x += g Wd
}

// Brings what the rest of the pass needs of the rows that are read to the front.
void Forward::KeepReadRows(uint32_t n) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (!rows_[i].is_read()) continue;
    const uint32_t to = kept++;
    if (to == i) continue;
    const auto move = [&](auto* values, size_t width) { std::copy_n(values + i * width, width, values + to * width); };
    move(rows_, 1);
    move(x_, p_.width);
    move(normed_.f32, normed_.width);
    if (normed_.q8) move(normed_.q8, normed_.width / kBlock);
    for (const Angles& angles : angles_) {
      move(angles.cosines, p_.rotated);
      move(angles.sines, p_.rotated);
    }
  }
  FindTiles(kept);
}

void Forward::Normalize(const float* weight, uint32_t n, bool quantize) {
  ForEachRow(n, [&](uint32_t i) {
    float* out = normed_.f32_of(i);
    kernels_.rms_norm(x_ + size_t{i} * p_.width, weight, p_.width, p_.epsilon, out);
    if (quantize) kernels_.quantize(out, p_.width, normed_.q8_of(i));
  });
}

void Forward::Quantize(const Activations& x, uint32_t n) {
  ForEachRow(n, [&](uint32_t i) { kernels_.quantize(x.f32_of(i), x.width, x.q8_of(i)); });
}

// One job over the rows of all products.
void Forward::Multiply(const Activations& x, uint32_t n, std::initializer_list<Product> products) {
  if (n == 0) return;
  size_t units = 0;
  for (const Product& product : products) units += Units(product.matrix->rows);
  const size_t pieces = PiecesOf(units);
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

// x += r Norm(a W + b), with what the model has of it.
void Forward::AddBranch(const Activations& a, const PackedMatrix& matrix, const float* bias, const float* post_norm,
                        uint32_t n) {
  if (!bias && !post_norm && p_.residual_scale == 1) {
    return Multiply(a, n, {{&matrix, x_, /*accumulate=*/true}});
  }
  Multiply(a, n, {{&matrix, branch_}});
  ForEachRow(n, [&](uint32_t i) {
    float* branch = branch_ + size_t{i} * p_.width;
    if (bias) kernels_.add_scaled(branch, bias, 1, p_.width);
    if (post_norm) kernels_.rms_norm(branch, post_norm, p_.width, p_.epsilon, branch);
    kernels_.add_scaled(x_ + size_t{i} * p_.width, branch, p_.residual_scale, p_.width);
  });
}

// out [n, 32] = h W + b for rows of a unit.
void Forward::MultiplyUnit(const PackedMatrix& matrix, const float* bias, uint32_t n, size_t row, size_t rows,
                           float* out) {
  kernels_.Matmul(matrix.type)({.panels = matrix.panel(row / kernels::kPanelRows),
                                .rows = rows,
                                .columns = matrix.columns,
                                .q8 = normed_.q8,
                                .f32 = normed_.f32,
                                .tokens = n,
                                .out = out,
                                .out_stride = kUnitRows,
                                .accumulate = false});
  for (uint32_t i = 0; bias && i < n; ++i) kernels_.add_scaled(out + i * kUnitRows, bias + row, 1, rows);
}

// gate, up and their product for 32 outputs at a time, which stay in the cache of the processor that computes them.
void Forward::GateUp(const ModelWeights::Layer& layer, uint32_t n) {
  if (n == 0) return;
  const auto activate = p_.activation == Activation::kGelu ? kernels_.gelu_multiply : kernels_.silu_multiply;
  const auto units = static_cast<uint32_t>(Units(p_.feed_forward));
  const uint32_t pieces = PiecesOf(units);
  pool_.Run(pieces, [&](uint32_t piece, uint32_t thread) noexcept {
    float* gate = gate_up_ + size_t{thread} * 2 * settings_.batch_size * kUnitRows;
    float* up = gate + size_t{settings_.batch_size} * kUnitRows;
    for (size_t unit = size_t{units} * piece / pieces; unit < size_t{units} * (piece + 1) / pieces; ++unit) {
      const size_t row = unit * kUnitRows;
      const size_t rows = std::min<size_t>(kUnitRows, p_.feed_forward - row);
      MultiplyUnit(layer.gate, layer.gate_bias, n, row, rows, gate);
      MultiplyUnit(layer.up, layer.up_bias, n, row, rows, up);
      for (uint32_t i = 0; i < n; ++i) {
        float* g = gate + i * kUnitRows;
        activate(g, up + i * kUnitRows, rows);
        if (layer.down.quantized()) {
          kernels_.quantize(g, kBlock, gated_.q8_of(i) + unit);
        } else {
          std::copy_n(g, rows, gated_.f32_of(i) + row);
        }
      }
    }
  });
}

}  // namespace owml::native
