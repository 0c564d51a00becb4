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
  const auto store_key = kernels_.store_key[static_cast<size_t>(cache_.type())];
  const auto store_value = kernels_.store_value[static_cast<size_t>(cache_.type())];
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
      store_key(at, d, cache_.keys(index, head), position + i);
      store_value(v + size_t{head} * d, d, cache_.values(index, head), position + i);
    }
  });
}

// The first position that the last of `length` positions sees.
uint64_t Forward::FirstSeen(uint32_t layer, uint64_t length) const {
  const uint64_t window = p_.layers[layer].window;
  return window != 0 && length > window ? length - window : 0;
}

// Without rows.
kernels::AttendCall Forward::CallFor(uint32_t layer, uint32_t kv_head) const {
  kernels::AttendCall call{};
  call.width = p_.head_width;
  call.keys = cache_.keys(layer, kv_head);
  call.values = cache_.values(layer, kv_head);
  call.begin = UINT64_MAX;
  call.cap = p_.score_cap;
  return call;
}

// A head of a token, over what it sees of a segment.
void Forward::AddRow(kernels::AttendCall* call, uint32_t layer, uint64_t position, uint32_t token, uint32_t head,
                     uint64_t segment) const {
  const uint64_t length = position + token + 1;
  const uint64_t first = FirstSeen(layer, length);
  call->queries[call->rows] = queries_ + size_t{token} * p_.query_width() + size_t{head} * p_.head_width;
  call->firsts[call->rows] = first;
  call->ends[call->rows] = std::min(length, (segment + 1) * kAttentionSegment);
  call->begin =
      std::min<uint64_t>(call->begin, std::max(segment * kAttentionSegment, first / kAttentionBlock * kAttentionBlock));
  ++call->rows;
}

// Neighbouring tokens go together as far as they fill the rows of a call, within absolute groups of so many positions.
void Forward::Attend(uint32_t layer, uint64_t position, Tokens tokens) {
  if (tokens.count() == 0) return;
  if (tokens.count() == 1) return AttendOneToken(layer, position, tokens.first);
  uint32_t tile = 1;
  while (2 * tile * p_.group() <= kMaxAttendRows) tile *= 2;
  const uint64_t first_tile = (position + tokens.first) / tile;
  const auto tiles = static_cast<uint32_t>((position + tokens.end - 1) / tile - first_tile + 1);
  pool_.Run(tiles * p_.kv_heads, [&](uint32_t piece, uint32_t thread) noexcept {
    // Late tokens take longest and come first.
    const uint64_t begin = (first_tile + tiles - 1 - piece / p_.kv_heads) * tile;
    const Tokens part{static_cast<uint32_t>(std::max(begin, position + tokens.first) - position),
                      static_cast<uint32_t>(std::min(begin + tile, position + tokens.end) - position)};
    // A window may begin in two blocks.
    const auto block = [&](uint32_t token) { return FirstSeen(layer, position + token + 1) / kAttentionBlock; };
    const uint32_t step = block(part.first) == block(part.end - 1) ? part.count() : 1;
    for (uint32_t token = part.first; token < part.end; token += step) {
      AttendTile(layer, position, {token, token + step}, piece % p_.kv_heads, thread);
    }
  });
}

// The query heads of neighbouring tokens that share a KV head, over all segments in order. The ranges of the tokens
// begin in one block and end in one block.
void Forward::AttendTile(uint32_t layer, uint64_t position, Tokens tile, uint32_t kv_head, uint32_t thread) {
  const size_t state_size = kernels::AttentionStateSize(p_.head_width);
  float* total = states_ + size_t{thread} * 2 * kMaxAttendRows * state_size;
  float* part = total + kMaxAttendRows * state_size;
  const uint64_t length = position + tile.end;
  const uint64_t first_segment = FirstSeen(layer, position + tile.first + 1) / kAttentionSegment;
  const uint32_t rows = tile.count() * p_.group();
  const auto token_of = [&](uint32_t row) { return tile.first + row / p_.group(); };
  const auto head_of = [&](uint32_t row) { return kv_head * p_.group() + row % p_.group(); };
  for (uint32_t row = 0; row < rows; row += kMaxAttendRows) {
    const uint32_t end = std::min<uint32_t>(rows, row + kMaxAttendRows);
    for (uint64_t segment = first_segment; segment * kAttentionSegment < length; ++segment) {
      kernels::AttendCall call = CallFor(layer, kv_head);
      for (uint32_t r = row; r < end; ++r) AddRow(&call, layer, position, token_of(r), head_of(r), segment);
      call.states = segment == first_segment ? total : part;
      kernels_.attend[static_cast<size_t>(cache_.type())](call);
      for (uint32_t r = 0; segment != first_segment && r < end - row; ++r) {
        kernels_.merge_attention(total + r * state_size, part + r * state_size, p_.head_width);
      }
    }
    for (uint32_t r = row; r < end; ++r) {
      kernels_.finish_attention(total + (r - row) * state_size, p_.head_width,
                                attended_.f32_of(token_of(r)) + size_t{head_of(r)} * p_.head_width);
    }
  }
}

// Segments are computed side by side and merged in the order in which AttendTile takes them.
void Forward::AttendOneToken(uint32_t layer, uint64_t position, uint32_t token) {
  const size_t state_size = kernels::AttentionStateSize(p_.head_width);
  const uint64_t length = position + token + 1;
  const uint64_t first_segment = FirstSeen(layer, length) / kAttentionSegment;
  const auto segments = static_cast<uint32_t>((length + kAttentionSegment - 1) / kAttentionSegment - first_segment);
  const auto tiles = static_cast<uint32_t>((p_.group() + kMaxAttendRows - 1) / kMaxAttendRows);
  // [segment][head]
  pool_.Run(p_.kv_heads * tiles * segments, [&](uint32_t piece, uint32_t) noexcept {
    const uint32_t kv_head = piece / segments / tiles;
    const uint32_t row = piece / segments % tiles * kMaxAttendRows;
    const uint32_t head = kv_head * p_.group() + row;
    kernels::AttendCall call = CallFor(layer, kv_head);
    for (uint32_t r = row; r < std::min<uint32_t>(p_.group(), row + kMaxAttendRows); ++r) {
      AddRow(&call, layer, position, token, kv_head * p_.group() + r, first_segment + piece % segments);
    }
    call.states = segments_ + (size_t{piece % segments} * p_.heads + head) * state_size;
    kernels_.attend[static_cast<size_t>(cache_.type())](call);
  });
  for (size_t head = 0; head < p_.heads; ++head) {
    float* total = segments_ + head * state_size;
    for (size_t segment = 1; segment < segments; ++segment) {
      kernels_.merge_attention(total, segments_ + (segment * p_.heads + head) * state_size, p_.head_width);
    }
    kernels_.finish_attention(total, p_.head_width, attended_.f32_of(token) + head * p_.head_width);
  }
}

}  // namespace owml::native
