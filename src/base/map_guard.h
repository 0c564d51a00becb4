// Keeps the process alive when a mapped file is cut short while it is read: the system answers such reads with SIGBUS.
// Decision 0019. Used by mapped_file.cpp.
#pragma once

#include <cstddef>
#include <string>

namespace owml {

// From construction to destruction, reads in [address, address + bytes) that no file stands behind any more give zeros,
// and the guard remembers that. A handler of the host for SIGBUS, if there was one before the first guard, gets every
// other such signal.
class MapGuard {
 public:
  // `address` begins a page. No file stands behind what follows `bytes` in its last page either. Throws E_OUTOFMEMORY
  // where more than 65536 are guarded.
  MapGuard(const void* address, size_t bytes);
  ~MapGuard();
  MapGuard(const MapGuard&) = delete;
  MapGuard& operator=(const MapGuard&) = delete;

  // True once a read found nothing.
  bool lost() const noexcept;
  // Throws ERROR_INVALID_DATA then; `file` is its name in quotes.
  void RequireWhole(const std::string& file) const;

  // Whether a guard's range holds this address.
  static bool Covers(const void* address) noexcept;

 private:
  static constexpr size_t kNone = ~size_t{0};
  size_t bytes_;
  size_t slot_ = kNone;
};

}  // namespace owml
