// Attention of the forward pass: queries and keys turned by their positions, keys and values into the cache, and the
// sums over what a token sees. Ranges are divided at absolute segments, which are merged in order.
#include <algorithm>

#include "backend/native/forward.h"

namespace owml::native {

using kernels::kAttentionBlock;
using kernels::kAttentionSegment;
using kernels::kMaxAttendRows;

void Forward::Rotate(float* head, const Angles& angles, uint32_t row) const {
  const float* cosines = angles.cosines + size_t{row} * p_.rotated;
  const float* sines = angles.sines + size_t{row} * p_.rotated;
  if (p_.rope_order == RopeOrder::kHalves) {
    kernels_.rotate_halves(head, cosines, sines, p_.rotated);
  } else {
    kernels_.rotate_pairs(head, cosines, sines, p_.rotated);
  }
}

void Forward::RotateQueries(uint32_t index, uint32_t n) {
  const ModelWeights::Layer& layer = weights_->layers()[index];
  const Angles& angles = angles_[p_.layers[index].rope];
  const uint32_t d = p_.head_width;
  ForEachRow(n, [&](uint32_t i) {
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

void Forward::RotateAndStoreKeys(uint32_t index, uint32_t n) {
  const ModelWeights::Layer& layer = weights_->layers()[index];
  const Angles& angles = angles_[p_.layers[index].rope];
  const auto store_key = kernels_.store_key[static_cast<size_t>(cache_.type())];
  const auto store_value = kernels_.store_value[static_cast<size_t>(cache_.type())];
  const uint32_t d = p_.head_width;
  ForEachRow(n, [&](uint32_t i) {
    const Row& row = rows_[i];
    const uint64_t place = cache_.Place(index, row.position);
    float* k = keys_ + size_t{i} * p_.kv_width();
    float* v = values_ + size_t{i} * p_.kv_width();
    if (layer.key_bias) kernels_.add_scaled(k, layer.key_bias, 1, p_.kv_width());
    if (layer.value_bias) kernels_.add_scaled(v, layer.value_bias, 1, p_.kv_width());
    for (uint32_t head = 0; head < p_.kv_heads; ++head) {
      float* at = k + size_t{head} * d;
      if (layer.key_norm) kernels_.rms_norm(at, layer.key_norm, d, p_.epsilon, at);
      Rotate(at, angles, i);
      store_key(at, d, cache_.keys(row.slot, index, head), place);
      store_value(v + size_t{head} * d, d, cache_.values(row.slot, index, head), place);
    }
  });
}

// The first position that a row sees; the last is its own.
uint64_t Forward::FirstSeen(uint32_t layer, uint32_t row) const {
  const uint64_t window = p_.layers[layer].window, length = rows_[row].position + 1;
  return window != 0 && length > window ? length - window : 0;
}

// The segments of what a row sees: from the first to before the end.
uint64_t Forward::FirstSegment(uint32_t layer, uint32_t row) const { return FirstSeen(layer, row) / kAttentionSegment; }
uint64_t Forward::EndSegment(uint32_t row) const { return rows_[row].position / kAttentionSegment + 1; }

// Without rows. Positions of a call count from the start of its segment.
kernels::AttendCall Forward::CallFor(uint32_t layer, uint32_t slot, uint32_t kv_head, uint64_t segment) const {
  const uint64_t start = cache_.Place(layer, segment * kAttentionSegment);
  kernels::AttendCall call{};
  call.width = p_.head_width;
  call.keys = cache_.keys(slot, layer, kv_head) + start * kernels::KeyBytes(cache_.type(), p_.head_width);
  call.values = cache_.values(slot, layer, kv_head) + start * kernels::ValueBytes(cache_.type(), p_.head_width);
  call.begin = kAttentionSegment;
  call.cap = p_.score_cap;
  return call;
}

// A query head of a row, over what it sees of a segment.
void Forward::AddHead(kernels::AttendCall* call, uint32_t layer, uint32_t row, uint32_t head, uint64_t segment) const {
  const uint64_t start = segment * kAttentionSegment;
  const uint64_t first = std::max(FirstSeen(layer, row), start) - start;
  call->queries[call->rows] = queries_ + size_t{row} * p_.query_width() + size_t{head} * p_.head_width;
  call->firsts[call->rows] = first;
  call->ends[call->rows] = std::min<uint64_t>(rows_[row].position + 1 - start, kAttentionSegment);
  call->begin = std::min<uint64_t>(call->begin, first / kAttentionBlock * kAttentionBlock);
  ++call->rows;
}

// Neighbours in a sequence go together as far as they fill the rows of a call, within absolute groups of so many
// positions.
void Forward::FindTiles(uint32_t n) {
  uint32_t size = 1;
  while (2 * size * p_.group() <= kMaxAttendRows) size *= 2;
  tile_count_ = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const Row& row = rows_[i];
    const bool neighbour = i > 0 && row.slot == rows_[i - 1].slot && row.position == rows_[i - 1].position + 1;
    if (neighbour && row.position % size != 0) {
      tiles_[tile_count_ - 1].end = i + 1;
    } else {
      tiles_[tile_count_++] = {i, i + 1};
    }
  }
}

// Pieces are ordered by KV heads, so that a thread reads the same heads in every job.
void Forward::Attend(uint32_t layer, uint32_t n) {
  if (tile_count_ == n && n <= MostSplitRows()) return AttendBySegments(layer, n);
  pool_.Run(tile_count_ * p_.kv_heads, [&](uint32_t piece, uint32_t thread) noexcept {
    // Late tokens take longest and come first.
    const uint32_t kv_head = piece / tile_count_;
    const Tile tile = tiles_[tile_count_ - 1 - piece % tile_count_];
    // A window may begin in two blocks.
    const auto block = [&](uint32_t row) { return FirstSeen(layer, row) / kAttentionBlock; };
    const uint32_t step = block(tile.first) == block(tile.end - 1) ? tile.count() : 1;
    for (uint32_t row = tile.first; row < tile.end; row += step) {
      AttendTile(layer, {row, row + step}, kv_head, thread);
    }
  });
}

// The query heads of neighbours that share a KV head, over all segments in order. What they see begins in one block and
// ends in one block.
void Forward::AttendTile(uint32_t layer, Tile tile, uint32_t kv_head, uint32_t thread) {
  const size_t state_size = kernels::AttentionStateSize(p_.head_width);
  float* total = states_ + size_t{thread} * 2 * kMaxAttendRows * state_size;
  float* part = total + kMaxAttendRows * state_size;
  const uint64_t first_segment = FirstSegment(layer, tile.first);
  const uint32_t heads = tile.count() * p_.group();
  const auto row_of = [&](uint32_t i) { return tile.first + i / p_.group(); };
  const auto head_of = [&](uint32_t i) { return kv_head * p_.group() + i % p_.group(); };
  for (uint32_t begin = 0; begin < heads; begin += kMaxAttendRows) {
    const uint32_t end = std::min<uint32_t>(heads, begin + kMaxAttendRows);
    for (uint64_t segment = first_segment; segment < EndSegment(tile.first); ++segment) {
      kernels::AttendCall call = CallFor(layer, rows_[tile.first].slot, kv_head, segment);
      for (uint32_t i = begin; i < end; ++i) AddHead(&call, layer, row_of(i), head_of(i), segment);
      call.states = segment == first_segment ? total : part;
      kernels_.attend[static_cast<size_t>(cache_.type())](call);
      for (uint32_t i = 0; segment != first_segment && i < end - begin; ++i) {
        kernels_.merge_attention(total + i * state_size, part + i * state_size, p_.head_width);
      }
    }
    for (uint32_t i = begin; i < end; ++i) {
      kernels_.finish_attention(total + (i - begin) * state_size, p_.head_width,
                                attended_.f32_of(row_of(i)) + size_t{head_of(i)} * p_.head_width);
    }
  }
}

// The segments of single rows are computed side by side and merged in the order in which AttendTile takes them.
void Forward::AttendBySegments(uint32_t layer, uint32_t n) {
  const size_t state_size = kernels::AttentionStateSize(p_.head_width);
  const auto count_of = [&](uint32_t row) { return static_cast<uint32_t>(EndSegment(row) - FirstSegment(layer, row)); };
  uint32_t segments = 0;
  for (uint32_t row = 0; row < n; ++row) segments = std::max(segments, count_of(row));
  const auto state_of = [&](uint32_t row, uint32_t segment, uint32_t head) {
    return segments_ + ((size_t{row} * segments + segment) * p_.heads + head) * state_size;
  };
  const auto calls = static_cast<uint32_t>((p_.group() + kMaxAttendRows - 1) / kMaxAttendRows);  // of a KV head
  pool_.Run(n * p_.kv_heads * calls * segments, [&](uint32_t piece, uint32_t) noexcept {
    const uint32_t segment = piece % segments;
    const uint32_t begin = piece / segments % calls * kMaxAttendRows;
    const uint32_t row = piece / segments / calls % n;
    const uint32_t kv_head = piece / segments / calls / n;
    if (segment >= count_of(row)) return;
    const uint64_t absolute = FirstSegment(layer, row) + segment;
    kernels::AttendCall call = CallFor(layer, rows_[row].slot, kv_head, absolute);
    for (uint32_t i = begin; i < std::min<uint32_t>(p_.group(), begin + kMaxAttendRows); ++i) {
      AddHead(&call, layer, row, kv_head * p_.group() + i, absolute);
    }
    call.states = state_of(row, segment, kv_head * p_.group() + begin);
    kernels_.attend[static_cast<size_t>(cache_.type())](call);
  });
  for (uint32_t row = 0; row < n; ++row) {
    for (uint32_t head = 0; head < p_.heads; ++head) {
      float* total = state_of(row, 0, head);
      for (uint32_t segment = 1; segment < count_of(row); ++segment) {
        kernels_.merge_attention(total, state_of(row, segment, head), p_.head_width);
      }
      kernels_.finish_attention(total, p_.head_width, attended_.f32_of(row) + size_t{head} * p_.head_width);
    }
  }
}

}  // namespace owml::native
