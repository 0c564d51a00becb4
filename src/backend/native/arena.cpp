// Reservation and the running end of an arena.
// Sizes come from files and callers, so every sum is checked.
#include "backend/native/arena.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/huge_pages.h"

namespace owml::native {

void Arena::Free::operator()(std::byte* memory) const {
  if (!owner) ::operator delete (memory, std::align_val_t{kAlignment});
}

Arena::Arena(std::byte* memory, uint64_t bytes, std::shared_ptr<const void> owner)
    : memory_(memory, Free{std::move(owner)}), capacity_(bytes) {}

Arena::Arena(uint64_t bytes, const std::string& purpose, Pages pages) : capacity_(bytes) {
  if (std::shared_ptr<HugePages> huge = pages == Pages::kHuge ? HugePages::Reserve(bytes) : nullptr) {
    std::byte* const memory = huge->data();
    memory_ = {memory, Free{std::move(huge)}};
    return;
  }
  void* memory = bytes <= PTRDIFF_MAX ? ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow) : nullptr;
  if (!memory)
    throw Error(E_OUTOFMEMORY, "there is no memory for " + purpose + ", " + std::to_string(bytes) + " bytes");
  memory_.reset(static_cast<std::byte*>(memory));
}

std::byte* Arena::TakeBytes(uint64_t count, uint64_t size) {
  const uint64_t end = memory_ ? capacity_ : uint64_t{PTRDIFF_MAX};
  if (count > end / size) throw Error(E_OUTOFMEMORY, std::to_string(count) + " values do not fit the memory");
  const uint64_t rounded = (count * size + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded > end - used_) throw Error(E_OUTOFMEMORY, std::to_string(count) + " values do not fit the memory");
  std::byte* at = memory_ ? memory_.get() + used_ : nullptr;
  used_ += rounded;
  high_water_ = std::max(high_water_, used_);
  return at;
}

}  // namespace owml::native
