// Attention of the forward pass: queries and keys turned by their positions, keys and values into the cache, and the
// sums over what a token sees. Ranges are divided at absolute segments, which are merged in order.
#include <algorithm>

#include "backend/native/forward.h"

namespace owml::native {

using kernels::kAttentionBlock;
using kernels::kAttentionSegment;
using kernels::kMaxAttendRows;

void Forward::Rotate(float* head, const Angles& angles, uint32_t token) const {
  const float* cosines = angles.cosines + size_t{token} * p_.rotated;
  const float* sines = angles.sines + size_t{token} * p_.rotated;
  if (p_.rope_order == RopeOrder::kHalves) {
    kernels_.rotate_halves(head, cosines, sines, p_.rotated);
  } else {
    kernels_.rotate_pairs(head, cosines, sines, p_.rotated);
  }
}

void Forward::RotateQueries(uint32_t index, Tokens tokens) {
  const ModelWeights::Layer& layer = weights_->layers()[index];
  const Angles& angles = angles_[p_.layers[index].rope];
  const uint32_t d = p_.head_width;
  ForEachToken(tokens, [&](uint32_t i) {
    float* q = queries_ + size_t{i} * p_.query_width();
    if (layer.query_bias) kernels_.add_scaled(q, layer.query_bias, 1, p_.query_width());
    for (uint32_t head = 0; head < p_.heads; ++head) {
      float* at = q + size_t{head} * d;
      if (layer.query_norm) kernels_.rms_norm(at, layer.query_norm, d, p_.epsilon, at);
      Rotate(at, angles, i);
    }
    kernels_.scale(q, p_.query_scale, p_.query_width());
  });
}

void Forward::RotateAndStoreKeys(uint32_t index, uint64_t position, Tokens tokens) {
  const ModelWeights::Layer& layer = weights_->layers()[index];
  const Angles& angles = angles_[p_.layers[index].rope];
  const uint32_t d = p_.head_width;
  ForEachToken(tokens, [&](uint32_t i) {
    float* k = keys_ + size_t{i} * p_.kv_width();
    float* v = values_ + size_t{i} * p_.kv_width();
    if (layer.key_bias) kernels_.add_scaled(k, layer.key_bias, 1, p_.kv_width());
    if (layer.value_bias) kernels_.add_scaled(v, layer.value_bias, 1, p_.kv_width());
    for (uint32_t head = 0; head < p_.kv_heads; ++head) {
      float* at = k + size_t{head} * d;
      if (layer.key_norm) kernels_.rms_norm(at, layer.key_norm, d, p_.epsilon, at);
      Rotate(at, angles, i);
      kernels_.store_key(at, d, cache_.keys(index, head), position + i);
      kernels_.store_value(v + size_t{head} * d, d, cache_.values(index, head), position + i);
    }
  });
}

// The first position that the last of `length` positions sees.
uint64_t Forward::FirstSeen(uint32_t layer, uint64_t length) const {
  const uint64_t window = p_.layers[layer].window;
  return window != 0 && length > window ? length - window : 0;
}

// One segment of the range up to `length`; queries and states are the caller's.
kernels::AttendCall Forward::CallFor(uint32_t layer, uint32_t kv_head, uint64_t length, uint64_t segment) const {
  const uint64_t first = FirstSeen(layer, length);
  return {.queries = nullptr,
          .rows = 0,
          .width = p_.head_width,
          .keys = cache_.keys(layer, kv_head),
          .values = cache_.values(layer, kv_head),
          .begin = std::max(segment * kAttentionSegment, first / kAttentionBlock * kAttentionBlock),
          .end = std::min(length, (segment + 1) * kAttentionSegment),
          .first = first,
          .cap = p_.score_cap,
          .states = nullptr};
}

void Forward::Attend(uint32_t layer, uint64_t position, Tokens tokens) {
  if (tokens.count() == 1) return AttendOneToken(layer, position, tokens.first);
  pool_.Run(tokens.count() * p_.kv_heads, [&](uint32_t piece, uint32_t thread) noexcept {
    // Late tokens take longest and come first.
    AttendHead(layer, position, tokens.end - 1 - piece / p_.kv_heads, piece % p_.kv_heads, thread);
  });
}

// The query heads of one token that share a KV head, over all segments in order.
void Forward::AttendHead(uint32_t layer, uint64_t position, uint32_t token, uint32_t kv_head, uint32_t thread) {
  const size_t state_size = kernels::AttentionStateSize(p_.head_width);
  float* total = states_ + size_t{thread} * 2 * kMaxAttendRows * state_size;
  float* part = total + kMaxAttendRows * state_size;
  const uint64_t length = position + token + 1;
  const uint64_t first_segment = FirstSeen(layer, length) / kAttentionSegment;
  const size_t heads = size_t{token} * p_.query_width() + size_t{kv_head} * p_.group() * p_.head_width;
  for (size_t row = 0; row < p_.group(); row += kMaxAttendRows) {
    const size_t rows = std::min<size_t>(kMaxAttendRows, p_.group() - row);
    for (uint64_t segment = first_segment; segment * kAttentionSegment < length; ++segment) {
      kernels::AttendCall call = CallFor(layer, kv_head, length, segment);
      call.queries = queries_ + heads + row * p_.head_width;
      call.rows = rows;
      call.states = segment == first_segment ? total : part;
      kernels_.attend(call);
      if (segment == first_segment) continue;
      for (size_t r = 0; r < rows; ++r) {
        kernels_.merge_attention(total + r * state_size, part + r * state_size, p_.head_width);
      }
    }
    for (size_t r = 0; r < rows; ++r) {
      kernels_.finish_attention(total + r * state_size, p_.head_width,
                                attended_.f32 + heads + (row + r) * p_.head_width);
    }
  }
}

// Segments are computed side by side and merged in the order in which AttendHead takes them.
void Forward::AttendOneToken(uint32_t layer, uint64_t position, uint32_t token) {
  const size_t state_size = kernels::AttentionStateSize(p_.head_width);
  const uint64_t length = position + token + 1;
  const uint64_t first_segment = FirstSeen(layer, length) / kAttentionSegment;
  const auto segments = static_cast<uint32_t>((length + kAttentionSegment - 1) / kAttentionSegment - first_segment);
  const auto tiles = static_cast<uint32_t>((p_.group() + kMaxAttendRows - 1) / kMaxAttendRows);
  const float* queries = queries_ + size_t{token} * p_.query_width();
  // [segment][head]
  pool_.Run(p_.kv_heads * tiles * segments, [&](uint32_t piece, uint32_t) noexcept {
    const uint32_t kv_head = piece / segments / tiles;
    const size_t row = size_t{piece / segments % tiles} * kMaxAttendRows;
    const size_t head = size_t{kv_head} * p_.group() + row;
    kernels::AttendCall call = CallFor(layer, kv_head, length, first_segment + piece % segments);
    call.queries = queries + head * p_.head_width;
    call.rows = std::min<size_t>(kMaxAttendRows, p_.group() - row);
    call.states = segments_ + (piece % segments * p_.heads + head) * state_size;
    kernels_.attend(call);
  });
  for (size_t head = 0; head < p_.heads; ++head) {
    float* total = segments_ + head * state_size;
    for (size_t segment = 1; segment < segments; ++segment) {
      kernels_.merge_attention(total, segments_ + (segment * p_.heads + head) * state_size, p_.head_width);
    }
    kernels_.finish_attention(total, p_.head_width,
                              attended_.f32 + size_t{token} * p_.query_width() + head * p_.head_width);
  }
}

}  // namespace owml::native
