// See cpu_attention.h.
// Positions of a call count from the start of its first segment; each segment may lie anywhere in a ring.
#include "backend/native/device/cpu_attention.h"

#include <algorithm>

#include "backend/native/device/cpu_address.h"

namespace owml::native {

using kernels::kAttentionBlock;
using kernels::kAttentionSegment;
using kernels::kMaxAttendRows;

namespace {

// What a call reads again for each group of its rows should stay in a core's own cache.
constexpr uint64_t kCallBytes = 512 << 10;
constexpr uint64_t kCallSegments = 16;

uint64_t SegmentsOfCall(const CacheLayer& cache, uint64_t width) {
  const uint64_t position = kernels::KeyBytes(cache.type, width) + kernels::ValueBytes(cache.type, width);
  return std::clamp<uint64_t>(kCallBytes / (position * kAttentionSegment), 1, kCallSegments);
}

}  // namespace

void CpuAttention::Reserve(const Attend& op) {
  const uint64_t heads = op.queries.extent(1), slots = op.cache.keys.extent(0), group = heads / op.cache.keys.extent(1);
  const uint64_t state = kernels::AttentionStateSize(op.queries.extent(2));
  const uint64_t segments = (op.cache.capacity + kAttentionSegment - 1) / kAttentionSegment;
  tile_rows_ = 1;
  while (2 * tile_rows_ * group <= kMaxAttendRows) tile_rows_ *= 2;
  split_rows_ = std::min<uint64_t>(slots, workers_.size());
  const Room room{std::max(room_.rows, op.queries.extent(0)),
                  std::max(room_.state_floats, (kMaxAttendRows + kernels::kRowsTogether) * state),
                  std::max(room_.segment_floats, split_rows_ * segments * heads * state)};
  if (room == room_) return;
  const std::string purpose = "attention over " + std::to_string(op.cache.capacity) + " tokens";
  memory_ = FilledArena(purpose, Arena::Pages::kUsual, [&](Arena& arena) {
    for (Tiles& tiles : tiles_) tiles.tiles = arena.Take<Tile>(room.rows);
    states_ = arena.Take<float>(workers_.size() * room.state_floats);
    segments_ = arena.Take<float>(room.segment_floats);
  });
  room_ = room;
}

void CpuAttention::Begin(const Step& step) noexcept {
  step_ = &step;
  for (const RowSet set : {RowSet::kTokens, RowSet::kRead}) {
    if (tiles_[static_cast<size_t>(set)].tiles) FindTiles(step.rows(set), &tiles_[static_cast<size_t>(set)]);
  }
}

// Neighbours in a sequence go together as far as they fill the rows of a call, within absolute groups of so many
// positions.
void CpuAttention::FindTiles(std::span<const Row> rows, Tiles* tiles) const {
  tiles->count = 0;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && Follows(rows[i], rows[i - 1]) && rows[i].position % tile_rows_ != 0) {
      tiles->tiles[tiles->count - 1].end = i + 1;
    } else {
      tiles->tiles[tiles->count++] = {i, i + 1};
    }
  }
}

class CpuAttention::Pass {
 public:
  Pass(const CpuAttention& all, const Attend& op, RowSet set)
      : all_(all),
        kernels_(all.kernels_),
        op_(op),
        rows_(all.step_->rows(set)),
        width_(op.queries.extent(2)),
        heads_(op.queries.extent(1)),
        kv_heads_(op.cache.keys.extent(1)),
        group_(heads_ / kv_heads_),
        state_size_(kernels::AttentionStateSize(width_)),
        call_segments_(SegmentsOfCall(op.cache, width_)) {}

  // Pieces are ordered by KV heads, so that a thread reads the same heads in every job.
  void ByTiles(const Tiles& tiles) const {
    all_.workers_.Run(static_cast<uint32_t>(tiles.count * kv_heads_), [&](uint32_t piece, uint32_t thread) noexcept {
      // Late tokens take longest and come first.
      const uint64_t kv_head = piece / tiles.count;
      const Tile tile = tiles.tiles[tiles.count - 1 - piece % tiles.count];
      // A window may begin in two blocks.
      const auto block = [&](uint32_t row) { return FirstSeen(row) / kAttentionBlock; };
      const uint32_t step = block(tile.first) == block(tile.end - 1) ? tile.count() : 1;
      for (uint32_t row = tile.first; row < tile.end; row += step) {
        AttendTile({row, row + step}, kv_head, all_.states_ + thread * all_.room_.state_floats);
      }
    });
  }

  // The segments of single rows are computed side by side and merged in the order in which AttendTile takes them.
  void BySegments() const {
    const auto count_of = [&](uint32_t row) { return EndSegment(row) - FirstSegment(row); };
    uint64_t segments = 0;
    for (uint32_t row = 0; row < rows_.size(); ++row) segments = std::max(segments, count_of(row));
    const auto state_of = [&](uint64_t row, uint64_t segment, uint64_t head) {
      return all_.segments_ + ((row * segments + segment) * heads_ + head) * state_size_;
    };
    const uint64_t calls = (group_ + kMaxAttendRows - 1) / kMaxAttendRows;  // of a KV head
    const uint64_t head_pieces = rows_.size() * calls * segments;
    all_.workers_.Run(static_cast<uint32_t>(kv_heads_ * head_pieces), [&](uint32_t piece, uint32_t) noexcept {
      // Neighbouring pieces are neighbours in memory: the KV heads of a segment, as far as they are on one node.
      const auto [first_head, head_count] = HeadsOfNode(piece / head_pieces);
      const uint64_t in_node = piece - first_head * head_pieces;
      const uint64_t begin = in_node % calls * kMaxAttendRows;
      const uint64_t kv_head = first_head + in_node / calls % head_count;
      const uint64_t segment = in_node / calls / head_count % segments;
      const auto row = static_cast<uint32_t>(in_node / calls / head_count / segments);
      if (segment >= count_of(row)) return;
      const uint64_t absolute = FirstSegment(row) + segment;
      const kernels::AttentionSegment cached = SegmentOf(rows_[row].slot, kv_head, absolute);
      kernels::AttendCall call = CallFor(&cached);
      for (uint64_t i = begin; i < std::min<uint64_t>(group_, begin + kMaxAttendRows); ++i) {
        AddHead(&call, row, kv_head * group_ + i, absolute, absolute + 1);
      }
      call.states = state_of(row, segment, kv_head * group_ + begin);
      kernels_.attend[static_cast<size_t>(op_.cache.type)](call);
    });
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      for (uint64_t head = 0; head < heads_; ++head) {
        float* total = state_of(row, 0, head);
        for (uint64_t segment = 1; segment < count_of(row); ++segment) {
          kernels_.merge_attention(total, state_of(row, segment, head), width_);
        }
        kernels_.finish_attention(total, width_, Pointer<float>(op_.out.at(row, head)));
      }
    }
  }

 private:
  // The first position that a row sees; the last is its own.
  uint64_t FirstSeen(uint32_t row) const {
    const uint64_t length = rows_[row].position + 1;
    return op_.cache.window != 0 && length > op_.cache.window ? length - op_.cache.window : 0;
  }

  // The segments of what a row sees: from the first to before the end.
  uint64_t FirstSegment(uint32_t row) const { return FirstSeen(row) / kAttentionSegment; }
  uint64_t EndSegment(uint32_t row) const { return rows_[row].position / kAttentionSegment + 1; }

  struct Heads {
    uint64_t first;
    uint64_t count;
  };
  // The KV heads around `head` that threads of the same node read.
  Heads HeadsOfNode(uint64_t head) const {
    const auto same = [&](uint64_t other) {
      return all_.workers_.NodeOf(other, kv_heads_) == all_.workers_.NodeOf(head, kv_heads_);
    };
    uint64_t first = head, end = head + 1;
    while (first > 0 && same(first - 1)) --first;
    while (end < kv_heads_ && same(end)) ++end;
    return {first, end - first};
  }

  kernels::AttentionSegment SegmentOf(uint32_t slot, uint64_t kv_head, uint64_t segment) const {
    const uint64_t start = segment * kAttentionSegment;
    return {Pointer<const std::byte>(op_.cache.KeysFrom(slot, kv_head, start)),
            Pointer<const std::byte>(op_.cache.ValuesFrom(slot, kv_head, start))};
  }

  // Without rows.
  kernels::AttendCall CallFor(const kernels::AttentionSegment* segments) const {
    kernels::AttendCall call{};
    call.width = width_;
    call.segments = segments;
    call.cap = op_.cap;
    return call;
  }

  // A query head of a row, over what it sees of segments `first` to before `end`.
  void AddHead(kernels::AttendCall* call, uint32_t row, uint64_t head, uint64_t first, uint64_t end) const {
    const uint64_t start = first * kAttentionSegment, stop = end * kAttentionSegment;
    call->queries[call->rows] = Pointer<const float>(op_.queries.at(row, head));
    call->firsts[call->rows] = std::max(FirstSeen(row), start) - start;
    call->ends[call->rows] = std::min<uint64_t>(rows_[row].position + 1, stop) - start;
    ++call->rows;
  }

  // The query heads of neighbours that share a KV head, over all segments in order. What they see begins in one block
  // and ends in one block.
  void AttendTile(Tile tile, uint64_t kv_head, float* states) const {
    const uint64_t first_segment = FirstSegment(tile.first), end_segment = EndSegment(tile.first);
    const uint64_t heads = tile.count() * group_;
    const auto row_of = [&](uint64_t i) { return tile.first + static_cast<uint32_t>(i / group_); };
    const auto head_of = [&](uint64_t i) { return kv_head * group_ + i % group_; };
    kernels::AttentionSegment segments[kCallSegments];
    for (uint64_t begin = 0; begin < heads; begin += kMaxAttendRows) {
      const uint64_t end = std::min<uint64_t>(heads, begin + kMaxAttendRows);
      for (uint64_t first = first_segment; first < end_segment; first += call_segments_) {
        const uint64_t stop = std::min(end_segment, first + call_segments_);
        for (uint64_t i = first; i < stop; ++i) segments[i - first] = SegmentOf(rows_[tile.first].slot, kv_head, i);
        kernels::AttendCall call = CallFor(segments);
        for (uint64_t i = begin; i < end; ++i) AddHead(&call, row_of(i), head_of(i), first, stop);
        call.states = states;
        call.continues = first != first_segment;
        call.parts = states + kMaxAttendRows * state_size_;
        kernels_.attend[static_cast<size_t>(op_.cache.type)](call);
      }
      for (uint64_t i = begin; i < end; ++i) {
        kernels_.finish_attention(states + (i - begin) * state_size_, width_,
                                  Pointer<float>(op_.out.at(row_of(i), head_of(i))));
      }
    }
  }

  const CpuAttention& all_;
  const kernels::Kernels& kernels_;
  const Attend& op_;
  const std::span<const Row> rows_;
  const uint64_t width_, heads_, kv_heads_, group_, state_size_;
  const uint64_t call_segments_;
};

void CpuAttention::Run(const Attend& op, RowSet set) noexcept {
  const Tiles& tiles = tiles_[static_cast<size_t>(set)];
  const size_t rows = step_->rows(set).size();
  const Pass pass(*this, op, set);
  if (tiles.count == rows && rows <= split_rows_) {
    pass.BySegments();
  } else {
    pass.ByTiles(tiles);
  }
}

}  // namespace owml::native
