// One block of memory that is handed out front to back: reserved once at Build, so that running allocates nothing.
// Used for packed weights, caches and work buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace owml::native {

class Arena {
 public:
  static constexpr size_t kAlignment = 64;

  // Hands out null pointers and counts: what a second pass over the same requests will take.
  Arena() = default;

  // kHuge is for memory that is read whole, again and again: it is taken in pages of 2 MiB where there are such.
  enum class Pages { kUsual, kHuge };

  // Throws E_OUTOFMEMORY with a sentence about `purpose`. The memory is not touched.
  Arena(uint64_t bytes, const std::string& purpose, Pages pages = Pages::kUsual);

  // Memory of somebody else, aligned to kAlignment; `owner` keeps it.
  Arena(std::byte* memory, uint64_t bytes, std::shared_ptr<const void> owner);

  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  // Aligned to kAlignment. Past the reservation, or where the count does not fit 64 bits: E_OUTOFMEMORY.
  template <class T>
  T* Take(uint64_t count) {
    return reinterpret_cast<T*>(TakeBytes(count, sizeof(T)));
  }

  // Everything handed out is free again.
  void Reset() { used_ = 0; }

  // Null without memory.
  const std::byte* data() const { return memory_.get(); }
  uint64_t used() const { return used_; }
  uint64_t high_water() const { return high_water_; }
  uint64_t capacity() const { return capacity_; }

 private:
  std::byte* TakeBytes(uint64_t count, uint64_t size);

  struct Free {
    std::shared_ptr<const void> owner;  // null: the memory is ours
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  uint64_t capacity_ = 0;
  uint64_t used_ = 0;
  uint64_t high_water_ = 0;
};

// `place` takes what it needs from the arena it is given; it is called twice, first to measure.
template <class Place>
Arena FilledArena(const std::string& purpose, Arena::Pages pages, Place&& place) {
  Arena measure;
  place(measure);
  Arena arena(measure.used(), purpose, pages);
  place(arena);
  return arena;
}

}  // namespace owml::native
