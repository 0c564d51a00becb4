// The affinity mask of the calling thread. Nothing here allocates.
// Used by the thread pool and around the runs of a forward pass.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace owml::native {

// Processors by the numbers of the operating system.
class ProcessorSet {
 public:
  // As wide as Linux is built.
  static constexpr size_t kMost = 8192;

  ProcessorSet() = default;
  explicit ProcessorSet(std::span<const uint32_t> processors);

  // Those that the calling thread may run on; empty where the system does not tell.
  static ProcessorSet OfThisThread() noexcept;

  bool empty() const noexcept;
  bool Holds(uint32_t processor) const noexcept;
  bool HoldsAllOf(const ProcessorSet& other) const noexcept;

  // False where the system does not let the calling thread be bound to these.
  bool BindThisThread() const noexcept;

 private:
  std::array<uint64_t, kMost / 64> bits_{};
};

// Binds the calling thread, which is the host's, and gives it its old mask back at the end of the scope. Does nothing
// for an empty set, and where the thread may not run on all of it.
class BoundScope {
 public:
  explicit BoundScope(const ProcessorSet& processors) noexcept;
  ~BoundScope();
  BoundScope(const BoundScope&) = delete;
  BoundScope& operator=(const BoundScope&) = delete;

 private:
  ProcessorSet before_;  // empty: not bound
};

}  // namespace owml::native
