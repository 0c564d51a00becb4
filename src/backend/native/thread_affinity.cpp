// Masks by sched_getaffinity and sched_setaffinity of Linux.
// Elsewhere threads run where the system puts them.
#include "backend/native/thread_affinity.h"

#include <algorithm>

#ifdef __linux__
#include <sched.h>
#endif

namespace owml::native {

ProcessorSet::ProcessorSet(std::span<const uint32_t> processors) {
  for (const uint32_t processor : processors) {
    if (processor < kMost) bits_[processor / 64] |= uint64_t{1} << processor % 64;
  }
}

bool ProcessorSet::empty() const noexcept {
  return std::all_of(bits_.begin(), bits_.end(), [](uint64_t bits) { return bits == 0; });
}

bool ProcessorSet::Holds(uint32_t processor) const noexcept {
  return processor < kMost && (bits_[processor / 64] >> processor % 64 & 1) != 0;
}

bool ProcessorSet::HoldsAllOf(const ProcessorSet& other) const noexcept {
  return std::equal(bits_.begin(), bits_.end(), other.bits_.begin(),
                    [](uint64_t mine, uint64_t theirs) { return (theirs & ~mine) == 0; });
}

#ifdef __linux__
static_assert(sizeof(unsigned long) == sizeof(uint64_t), "the kernel's masks are of unsigned long");

ProcessorSet ProcessorSet::OfThisThread() noexcept {
  ProcessorSet set;
  if (::sched_getaffinity(0, sizeof(set.bits_), reinterpret_cast<cpu_set_t*>(set.bits_.data())) != 0) return {};
  return set;
}

bool ProcessorSet::BindThisThread() const noexcept {
  return ::sched_setaffinity(0, sizeof(bits_), reinterpret_cast<const cpu_set_t*>(bits_.data())) == 0;
}
#else
ProcessorSet ProcessorSet::OfThisThread() noexcept { return {}; }
bool ProcessorSet::BindThisThread() const noexcept { return false; }
#endif

BoundScope::BoundScope(const ProcessorSet& processors) noexcept {
  if (processors.empty()) return;
  const ProcessorSet before = ProcessorSet::OfThisThread();
  if (before.HoldsAllOf(processors) && processors.BindThisThread()) before_ = before;
}

BoundScope::~BoundScope() {
  if (!before_.empty()) before_.BindThisThread();
}

}  // namespace owml::native
