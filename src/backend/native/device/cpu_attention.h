// Attention of the CPU device: the heads of neighbouring rows that share keys go together, and what a single row sees
// is divided at absolute segments, which are merged in order. Driven by cpu_device.cpp.
#pragma once

#include <vector>

#include "backend/native/arena.h"
#include "backend/native/device/step.h"
#include "backend/native/device/workers.h"
#include "kernels/kernels.h"

namespace owml::native {

class CpuAttention {
 public:
  CpuAttention(const kernels::Kernels& kernels, Workers& workers) : kernels_(kernels), workers_(workers) {}

  // Before the first Run of it. Throws E_OUTOFMEMORY.
  void Reserve(const Attend& op);
  void Begin(const Step& step) noexcept;
  // At least one row.
  void Run(const Attend& op, RowSet set) noexcept;

 private:
  // Rows from `first` to before `end`: neighbours in one sequence whose heads go through attention together.
  struct Tile {
    uint32_t first;
    uint32_t end;
    uint32_t count() const { return end - first; }
  };
  struct Tiles {
    Tile* tiles = nullptr;
    uint32_t count = 0;
  };
  struct Room {
    uint64_t rows = 0;          // of a step
    uint64_t state_floats = 0;  // for a thread
    uint64_t segment_floats = 0;
    bool operator==(const Room&) const = default;
  };
  // An operation over the rows of a step.
  class Pass;

  void FindTiles(std::span<const Row> rows, Tiles* tiles) const;

  const kernels::Kernels& kernels_;
  Workers& workers_;
  uint32_t tile_rows_ = 1;   // most rows of a tile
  uint64_t split_rows_ = 0;  // single rows whose segments are divided among the threads
  Room room_;
  const Step* step_ = nullptr;
  Tiles tiles_[2];             // by RowSet
  float* states_ = nullptr;    // [threads, kMaxAttendRows + kRowsTogether] attention states
  float* segments_ = nullptr;  // [split rows, segments, H] attention states
  Arena memory_;
};

}  // namespace owml::native
