// Memory in pages of 2 MiB where the system has them: a thread that streams weights reads a quarter more of it in a
// second. Used for arenas, packed weights, and where the limit of reading is measured.
#pragma once

#include <cstddef>
#include <memory>

namespace owml {

// Anonymous memory, aligned to 2 MiB, zero and not touched.
class HugePages {
 public:
  // Below this, pages of the usual size do.
  static constexpr size_t kMinBytes = size_t{4} << 20;

  // Null where the system gives none for so many bytes: they are few, more than half of what is free, transparent huge
  // pages are off, or there is no address space.
  static std::unique_ptr<HugePages> Reserve(size_t bytes);

  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

  std::byte* data() const { return data_; }

 private:
  HugePages(std::byte* data, size_t bytes) : data_(data), bytes_(bytes) {}

  std::byte* data_;
  size_t bytes_;
};

}  // namespace owml
