// Which memory node each page of weights and caches belongs on: that of the thread that reads it.
// Filled by memory_placement.cpp and the cache, and carried out by a topology.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/native/topology.h"

namespace owml::native {

// Bytes. Weights are placed by huge pages, which a border inside would split.
inline constexpr size_t kUsualPage = size_t{1} << 12;
inline constexpr size_t kHugePage = size_t{1} << 21;

class PagePlan {
 public:
  struct Stretch {
    std::byte* begin;
    size_t bytes;
    uint32_t node;
    bool operator==(const Stretch&) const = default;
  };

  // Stretches do not overlap; any order will do.
  void Add(const std::byte* begin, size_t bytes, uint32_t node);

  // Whole pages of a size that is a power of two, neighbours of one node together. A page that several stretches share
  // goes to the node with most of its bytes; one with less than half a page of stretches is left where it is.
  std::vector<Stretch> Runs(size_t page) const;

  // False where the topology keeps none of it.
  bool Apply(const Topology& topology, size_t page) const;

 private:
  std::vector<Stretch> stretches_;
};

}  // namespace owml::native
