// The layers of a decoder, in the order of the paper.
// Work is divided so that no sum depends on the division: by rows of a matrix, tokens, heads, and absolute segments of
// positions.
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

Forward::Forward(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
                 const kernels::Kernels& kernels)
    : weights_(std::move(weights)),
      p_(weights_->plan()),
      settings_(settings),
      kernels_(kernels),
      pool_(settings.threads),
      cache_({static_cast<uint32_t>(p_.layers.size()), p_.kv_heads, p_.head_width, settings.capacity,
              settings.cache_type}) {
  settings_.batch_size = static_cast<uint32_t>(std::min<uint64_t>(settings.batch_size, settings.capacity));
  for (const RopePlan& rope : p_.ropes) {
    Angles angles;
    angles.steps = RopeSteps(p_, rope, weights_->RopeFactorsFor(settings.capacity));
    angles.magnitude = static_cast<float>(rope.magnitude);
    angles_.push_back(std::move(angles));
  }
  arena_ = FilledArena("the work buffers of " + p_.label, Arena::Pages::kHuge, [this](Arena& arena) { Place(arena); });
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
  segments_ = arena.Take<float>(p_.heads * segments * state);
}

bool Forward::Run(std::span<const int32_t> tokens, uint64_t position, LogitRows rows, float* logits,
                  CancellationCheck* check) noexcept {
  while (!tokens.empty()) {
    const auto batch = tokens.first(std::min<size_t>(tokens.size(), settings_.batch_size));
    tokens = tokens.subspan(batch.size());
    const auto n = static_cast<uint32_t>(batch.size());
    // Those whose logits are read: of the others the last layer computes keys and values only.
    Tokens read{n, n};
    if (rows == LogitRows::kAll) read.first = 0;
    if (rows == LogitRows::kLast && tokens.empty()) read.first = n - 1;

    Embed(batch);  // x = E[tokens]
    for (Angles& angles : angles_) ComputeAngles(angles, position, n);
    for (uint32_t layer = 0; layer < p_.layers.size(); ++layer) {
      if (check && check->canceled()) return false;
      const Tokens wanted = layer + 1 < p_.layers.size() ? Tokens{0, n} : read;
      SelfAttention(layer, position, n, wanted);  // x += Attention(Norm(x)) Wo
      FeedForward(layer, wanted);                 // x += (SiLU(Norm(x) Wg) * Norm(x) Wu) Wd
    }
    Head(read, logits);  // Norm(x) We
    if (rows == LogitRows::kAll) logits += size_t{n} * p_.vocabulary;
    position += n;
  }
  return true;
}

void Forward::Embed(std::span<const int32_t> tokens) {
  ForEachToken({0, static_cast<uint32_t>(tokens.size())}, [&](uint32_t i) {
    float* x = x_ + size_t{i} * p_.width;
    weights_->Embed(tokens[i], x);
    if (p_.embedding_scale != 1) kernels_.scale(x, p_.embedding_scale, p_.width);
  });
}

// Cosines and sines stand as the kernel of the model's order reads them.
void Forward::ComputeAngles(Angles& angles, uint64_t position, uint32_t n) {
  ForEachToken({0, n}, [&](uint32_t i) {
    float* cosines = angles.cosines + size_t{i} * p_.rotated;
    float* sines = angles.sines + size_t{i} * p_.rotated;
    for (size_t pair = 0; pair < angles.steps.size(); ++pair) {
      const double angle = static_cast<double>(position + i) * angles.steps[pair];
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

void Forward::SelfAttention(uint32_t index, uint64_t position, uint32_t n, Tokens wanted) {
  const ModelWeights::Layer& layer = weights_->layers()[index];
  const Tokens all{0, n};
  Normalize(layer.attention_norm, all, AnyQuantized({&layer.query, &layer.key, &layer.value}));  // h    [n, D]
  if (wanted.count() == n) {
    Multiply(normed_, all, {{&layer.query, queries_}, {&layer.key, keys_}, {&layer.value, values_}});  // q    [n, H d]
  } else {
    Multiply(normed_, all, {{&layer.key, keys_}, {&layer.value, values_}});  // k, v [n, K d]
    Multiply(normed_, wanted, {{&layer.query, queries_ + size_t{wanted.first} * p_.query_width()}});
  }
  RotateAndStoreKeys(index, position, all);
  RotateQueries(index, wanted);
  Attend(index, position, wanted);  // a    [n, H d]
  if (layer.output.quantized()) Quantize(attended_, wanted);
  AddBranch(attended_, layer.output, layer.output_bias, layer.post_attention_norm, wanted);  // x += a Wo
}

void Forward::FeedForward(uint32_t index, Tokens tokens) {
  const ModelWeights::Layer& layer = weights_->layers()[index];
  Normalize(layer.feed_forward_norm, tokens, AnyQuantized({&layer.gate, &layer.up}));    // h [n, D]
  GateUp(layer, tokens);                                                                 // g [n, F]
  AddBranch(gated_, layer.down, layer.down_bias, layer.post_feed_forward_norm, tokens);  // x += g Wd
}

void Forward::Head(Tokens tokens, float* logits) {
  if (tokens.count() == 0) return;
  Normalize(weights_->output_norm(), tokens, weights_->head().quantized());
  Multiply(normed_, tokens, {{&weights_->head(), logits}});  // [n, V]
  if (!weights_->head_bias() && p_.logit_scale == 1 && p_.logit_cap == 0) return;
  ForEachToken(tokens, [&](uint32_t i) {
    float* row = logits + size_t{i - tokens.first} * p_.vocabulary;
    if (weights_->head_bias()) kernels_.add_scaled(row, weights_->head_bias(), 1, p_.vocabulary);
    if (p_.logit_scale != 1) kernels_.scale(row, p_.logit_scale, p_.vocabulary);
    if (p_.logit_cap != 0) kernels_.soft_cap(row, p_.logit_cap, p_.vocabulary);
  });
}

void Forward::Normalize(const float* weight, Tokens tokens, bool quantize) {
  ForEachToken(tokens, [&](uint32_t i) {
    float* out = normed_.f32_of(i);
    kernels_.rms_norm(x_ + size_t{i} * p_.width, weight, p_.width, p_.epsilon, out);
    if (quantize) kernels_.quantize(out, p_.width, normed_.q8_of(i));
  });
}

void Forward::Quantize(const Activations& x, Tokens tokens) {
  ForEachToken(tokens, [&](uint32_t i) { kernels_.quantize(x.f32_of(i), x.width, x.q8_of(i)); });
}

// One job over the rows of all products.
void Forward::Multiply(const Activations& x, Tokens tokens, std::initializer_list<Product> products) {
  if (tokens.count() == 0) return;
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
                                      .q8 = x.q8_of(tokens.first),
                                      .f32 = x.f32_of(tokens.first),
                                      .tokens = tokens.count(),
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
                        Tokens tokens) {
  if (!bias && !post_norm && p_.residual_scale == 1) {
    return Multiply(a, tokens, {{&matrix, x_ + size_t{tokens.first} * p_.width, /*accumulate=*/true}});
  }
  Multiply(a, tokens, {{&matrix, branch_ + size_t{tokens.first} * p_.width}});
  ForEachToken(tokens, [&](uint32_t i) {
    float* branch = branch_ + size_t{i} * p_.width;
    if (bias) kernels_.add_scaled(branch, bias, 1, p_.width);
    if (post_norm) kernels_.rms_norm(branch, post_norm, p_.width, p_.epsilon, branch);
    kernels_.add_scaled(x_ + size_t{i} * p_.width, branch, p_.residual_scale, p_.width);
  });
}

// gate, up and their product for 32 outputs at a time, which stay in the cache of the processor that computes them.
void Forward::GateUp(const ModelWeights::Layer& layer, Tokens tokens) {
  if (tokens.count() == 0) return;
  const auto activate = p_.activation == Activation::kGelu ? kernels_.gelu_multiply : kernels_.silu_multiply;
  const auto units = static_cast<uint32_t>(Units(p_.feed_forward));
  const auto pieces = static_cast<uint32_t>(std::min<size_t>(units, pool_.size() * kPiecesPerThread));
  pool_.Run(pieces, [&](uint32_t piece, uint32_t thread) noexcept {
    float* gate = gate_up_ + size_t{thread} * 2 * settings_.batch_size * kUnitRows;
    float* up = gate + size_t{settings_.batch_size} * kUnitRows;
    const auto product = [&](const PackedMatrix& matrix, const float* bias, size_t row, size_t rows, float* out) {
      kernels_.Matmul(matrix.type)({.panels = matrix.panel(row / kernels::kPanelRows),
                                    .rows = rows,
                                    .columns = matrix.columns,
                                    .q8 = normed_.q8_of(tokens.first),
                                    .f32 = normed_.f32_of(tokens.first),
                                    .tokens = tokens.count(),
                                    .out = out,
                                    .out_stride = kUnitRows,
                                    .accumulate = false});
      for (uint32_t i = 0; bias && i < tokens.count(); ++i) {
        kernels_.add_scaled(out + i * kUnitRows, bias + row, 1, rows);
      }
    };
    for (size_t unit = size_t{units} * piece / pieces; unit < size_t{units} * (piece + 1) / pieces; ++unit) {
      const size_t row = unit * kUnitRows;
      const size_t rows = std::min<size_t>(kUnitRows, p_.feed_forward - row);
      product(layer.gate, layer.gate_bias, row, rows, gate);
      product(layer.up, layer.up_bias, row, rows, up);
      for (uint32_t i = 0; i < tokens.count(); ++i) {
        const uint32_t token = tokens.first + i;
        float* g = gate + i * kUnitRows;
        activate(g, up + i * kUnitRows, rows);
        if (layer.down.quantized()) {
          kernels_.quantize(g, kBlock, gated_.q8_of(token) + unit);
        } else {
          std::copy_n(g, rows, gated_.f32_of(token) + row);
        }
      }
    }
  });
}

}  // namespace owml::native
